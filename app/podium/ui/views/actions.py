"""Everything the window can be asked by menu or by keys, in one list."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

THEME_NAMES = ("system", "light", "dark")

Keys = QKeySequence.StandardKey | str


class WindowActions(QObject):
    """The window's actions, each with its words and keys; the window connects them.

    Args:
        window: What they belong to: their keys work wherever the focus is in it.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._make_file_actions()
        self._make_edit_actions()
        self._make_view_actions()
        self._make_playback_actions()
        self._make_generate_actions()
        self.shortcuts = self._make(self.tr("&Keyboard Shortcuts"), "F1")
        self.about = self._make(self.tr("&About Podium"))

    def fill(self, bar: QMenuBar) -> None:
        """Put the actions into menus; "-" parts groups."""
        self._menu(bar, self.tr("&File"), self._file)
        self._menu(bar, self.tr("&Edit"), self._edit)
        view = self._menu(bar, self.tr("&View"), self._view)
        theme = view.addMenu(self.tr("&Theme"))
        theme.addActions(list(self.themes.values()))
        playback = view.addMenu(self.tr("&Playback"))
        playback.addActions(self._playback)
        self._menu(bar, self.tr("&Generate"), self._generate)
        self._menu(bar, self.tr("&Help"), (self.shortcuts, self.about))

    def all(self) -> list[QAction]:
        """Return every action in the order of the menus."""
        listed = (*self._file, *self._edit, *self._view, *self.themes.values(), *self._playback, *self._generate)
        return [action for action in (*listed, self.shortcuts, self.about) if action is not None]

    def _make_file_actions(self) -> None:
        self.choose_model = self._make(self.tr("Choose &Model…"), QKeySequence.StandardKey.Open)
        self.choose_devices = self._make(self.tr("Choose &Devices…"), "Ctrl+D")
        self.try_demo = self._make(self.tr("&Try the Demo Model"))
        self.clips_folder = self._make(self.tr("Clips &Folder…"))
        self.show_clip = self._make(self.tr("&Show Clip in Folder"), "Ctrl+Shift+F")
        self.quit = self._make(self.tr("&Quit"), "Ctrl+Q")
        self._file = (
            *(self.choose_model, self.choose_devices, self.try_demo, None),
            *(self.clips_folder, self.show_clip, None, self.quit),
        )

    def _make_edit_actions(self) -> None:
        self.choose_image = self._make(self.tr("Choose &Picture…"), "Ctrl+I")
        self.paste_image = self._make(self.tr("P&aste Picture"), "Ctrl+Shift+V")
        self.clear_image = self._make(self.tr("&Remove Picture"))
        self.add_loras = self._make(self.tr("Add &LoRAs…"), "Ctrl+L")
        self.roll_seed = self._make(self.tr("Throw the &Dice"), "Ctrl+R")
        self.lock_seed = self._make(self.tr("&Keep the Seed"), "Ctrl+Shift+R", is_checkable=True)
        self._edit = (
            *(self.choose_image, self.paste_image, self.clear_image, None),
            *(self.add_loras, None, self.roll_seed, self.lock_seed),
        )

    def _make_view_actions(self) -> None:
        self.show_fleet = self._make(self.tr("&Fleet"), "Ctrl+1")
        self.show_history = self._make(self.tr("&History"), "Ctrl+2")
        self.show_log = self._make(self.tr("&Log"), "Ctrl+3")
        self.full_screen = self._make(self.tr("F&ull Screen"), "F11", is_checkable=True)
        self._view = (self.show_fleet, self.show_history, self.show_log, None, self.full_screen)
        words = {"system": self.tr("As the &System"), "light": self.tr("&Light"), "dark": self.tr("&Dark")}
        group = QActionGroup(self)
        self.themes = {name: self._make(words[name], is_checkable=True) for name in THEME_NAMES}
        for name, action in self.themes.items():
            action.setData(name)
            group.addAction(action)

    def _make_playback_actions(self) -> None:
        self.play = self._make(self.tr("&Play or Pause"), "Ctrl+Space")
        self.frame_back = self._make(self.tr("One Frame &Back"), "Alt+Left")
        self.frame_forward = self._make(self.tr("One Frame &On"), "Alt+Right")
        self.loop = self._make(self.tr("&Loop"), "Ctrl+Shift+L", is_checkable=True)
        self.mute = self._make(self.tr("&Mute"), "Ctrl+M", is_checkable=True)
        self._playback = [self.play, self.frame_back, self.frame_forward, self.loop, self.mute]

    def _make_generate_actions(self) -> None:
        self.generate = self._make(self.tr("&Generate"), "Ctrl+Return")
        self.cancel = self._make(self.tr("&Cancel"), "Esc")
        # No keys: a force stop is a press of its own.
        self.force_stop = self._make(self.tr("&Force Stop"))
        self.start_fleet = self._make(self.tr("&Start the Fleet"))
        self.unload_fleet = self._make(self.tr("&Unload the Fleet"))
        self.stop_fleet = self._make(self.tr("S&top the Fleet"))
        self._generate = (
            *(self.generate, self.cancel, self.force_stop, None),
            *(self.start_fleet, self.unload_fleet, self.stop_fleet),
        )

    def _make(self, text: str, keys: Keys | None = None, *, is_checkable: bool = False) -> QAction:
        action = QAction(text, self._window)
        action.setCheckable(is_checkable)
        if keys is not None:
            action.setShortcut(QKeySequence(keys))
            action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        self._window.addAction(action)
        return action

    def _menu(self, bar: QMenuBar, title: str, actions: tuple[QAction | None, ...]) -> QMenu:
        menu = bar.addMenu(title)
        for action in actions:
            if action is None:
                menu.addSeparator()
            else:
                menu.addAction(action)
        return menu
