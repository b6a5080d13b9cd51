"""Files that Podium ships beside its code; `podium.assets` alone reads them."""
