"""The blocks that pipelines are made of; each has public builder slots and does one part of the way."""
