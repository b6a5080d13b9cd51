"""Ask for files without stopping the window: the answer comes by signal."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget


def open_file_dialog(
    parent: QWidget, title: str, *, name_filter: str = "", takes_many: bool = False, takes_folder: bool = False
) -> QFileDialog:
    """Open a dialog that asks for files or a folder, and return it; connect to `filesSelected`."""
    dialog = QFileDialog(parent, title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptOpen)
    if takes_folder:
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    else:
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles if takes_many else QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilter(name_filter)
    dialog.open()
    return dialog


def open_save_dialog(parent: QWidget, title: str, proposed: Path, *, name_filter: str) -> QFileDialog:
    """Open a dialog that asks where a file shall go, and return it; connect to `fileSelected`.

    It asks before a file that is there is replaced.

    Args:
        parent: What it belongs to.
        title: What is to be saved.
        proposed: The file that is meant unless another is chosen.
        name_filter: As Qt writes it; the first suffix in it is added where none is typed.
    """
    dialog = QFileDialog(parent, title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilter(name_filter)
    dialog.setDefaultSuffix(proposed.suffix.removeprefix("."))
    dialog.setDirectory(str(proposed.parent))
    dialog.selectFile(proposed.name)
    dialog.open()
    return dialog
