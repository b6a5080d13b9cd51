"""Everything the window can be asked by menu or by keys, in one list."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from podium.ui.views.widgets.actions import Keys, make_action

THEME_NAMES = ("system", "light", "dark")

ActionGroup = tuple[QAction | None, ...]
"""Actions in the order of a menu; None parts groups."""


class WindowActions(QObject):
    """The window's actions, each with its words and keys; the window connects them.

    Args:
        window: What they belong to: their keys work wherever the focus is in it.
        clip: The actions of the clip on the Stage.
        history: Those of the history that no other menu has.
        queue: Those of the queue.
    """

    def __init__(self, window: QWidget, *, clip: ActionGroup, history: ActionGroup, queue: ActionGroup) -> None:
        super().__init__(window)
        self._window = window
        self._history, self._queue = history, queue
        self._make_file_actions()
        self._make_edit_actions()
        self._make_view_actions()
        self._make_playback_actions()
        self._clip = (*self._playback, None, *clip)
        self._make_generate_actions()
        self.shortcuts = self._make(self.tr("&Keyboard Shortcuts"), "F1")
        self.about = self._make(self.tr("&About Podium"))

    def fill(self, bar: QMenuBar) -> None:
        """Put the actions into menus."""
        self._menu(bar, self.tr("&File"), self._file)
        self._menu(bar, self.tr("&Edit"), self._edit)
        view = self._menu(bar, self.tr("&View"), self._view)
        theme = view.addMenu(self.tr("&Theme"))
        theme.addActions(list(self.themes.values()))
        self._menu(bar, self.tr("&Clip"), self._clip)
        self._menu(bar, self.tr("&History"), self._history)
        self._menu(bar, self.tr("&Queue"), self._queue)
        self._menu(bar, self.tr("&Generate"), self._generate)
        self._menu(bar, self.tr("He&lp"), (self.shortcuts, self.about))

    def all(self) -> list[QAction]:
        """Return every action in the order of the menus."""
        lists = (self._file, self._edit, self._view, tuple(self.themes.values()), self._clip, self._history)
        listed = [action for actions in (*lists, self._queue, self._generate) for action in actions]
        return [action for action in (*listed, self.shortcuts, self.about) if action is not None]

    def groups(self) -> tuple[tuple[str, ActionGroup], ...]:
        """Return the actions by menu, whose names stand without their letters."""
        return (
            (self.tr("File"), self._file),
            (self.tr("Form"), self._edit),
            (self.tr("View"), self._view),
            (self.tr("Clip"), self._clip),
            (self.tr("Queue"), self._queue),
            (self.tr("Generate"), (*self._generate, self.shortcuts)),
        )

    def _make_file_actions(self) -> None:
        self.choose_model = self._make(self.tr("Choose &Model…"), QKeySequence.StandardKey.Open)
        self.choose_devices = self._make(self.tr("Choose &Devices…"), "Ctrl+D")
        self.try_demo = self._make(self.tr("&Try the Demo Model"))
        self.open_clip = self._make(self.tr("Reuse a Clip's &File…"), "Ctrl+Shift+O")
        self.clips_folder = self._make(self.tr("Clips F&older…"))
        self.quit = self._make(self.tr("&Quit"), "Ctrl+Q")
        self._file = (
            *(self.choose_model, self.choose_devices, self.try_demo, None),
            *(self.open_clip, self.clips_folder, None, self.quit),
        )

    def _make_edit_actions(self) -> None:
        self.choose_image = self._make(self.tr("Add &Pictures…"), "Ctrl+I")
        self.paste_image = self._make(self.tr("P&aste Picture"), "Ctrl+Shift+V")
        self.clear_image = self._make(self.tr("&Remove Pictures"))
        self.add_loras = self._make(self.tr("Add &LoRAs…"), "Ctrl+L")
        self.roll_seed = self._make(self.tr("Throw the &Dice"), "Ctrl+R")
        self.lock_seed = self._make(self.tr("&Keep the Seed"), "Ctrl+Shift+R", is_checkable=True)
        self._edit = (
            *(self.choose_image, self.paste_image, self.clear_image, None),
            *(self.add_loras, None, self.roll_seed, self.lock_seed),
        )

    def _make_view_actions(self) -> None:
        self.show_queue = self._make(self.tr("&Queue"), "Ctrl+1")
        self.show_history = self._make(self.tr("&History"), "Ctrl+2")
        self.show_fleet = self._make(self.tr("&Fleet"), "Ctrl+3")
        self.show_log = self._make(self.tr("&Log"), "Ctrl+4")
        self.show_panels = self._make(self.tr("Show the &Panels"), "Ctrl+J", is_checkable=True)
        self.show_panels.setChecked(True)
        self.stop_comparing = self._make(self.tr("Stop &Comparing"), "Ctrl+Shift+K")
        self.full_screen = self._make(self.tr("F&ull Screen"), "F11", is_checkable=True)
        self.notify = self._make(self.tr("&Notify when Clips Are Done"), is_checkable=True)
        self.reduce_motion = self._make(self.tr("&Reduce Motion"), is_checkable=True)
        self._view = (
            *(self.show_queue, self.show_history, self.show_fleet, self.show_log, None),
            *(self.show_panels, self.stop_comparing, self.full_screen, self.reduce_motion, self.notify),
        )
        words = {"system": self.tr("As the &System"), "light": self.tr("&Light"), "dark": self.tr("&Dark")}
        group = QActionGroup(self)
        self.themes = {name: self._make(words[name], is_checkable=True) for name in THEME_NAMES}
        for name, action in self.themes.items():
            action.setData(name)
            group.addAction(action)

    def _make_playback_actions(self) -> None:
        self.play = self._make(self.tr("&Play or Pause"), "Ctrl+Space")
        self.frame_back = self._make(self.tr("One Frame &Back"), "Alt+Left")
        self.frame_forward = self._make(self.tr("One Frame O&n"), "Alt+Right")
        self.slower = self._make(self.tr("Slo&wer"), "Ctrl+[")
        self.faster = self._make(self.tr("F&aster"), "Ctrl+]")
        self.loop = self._make(self.tr("&Loop"), "Ctrl+Shift+L", is_checkable=True)
        self.mute = self._make(self.tr("M&ute"), "Ctrl+M", is_checkable=True)
        self._playback = (
            *(self.play, self.frame_back, self.frame_forward),
            *(self.slower, self.faster, self.loop, self.mute),
        )

    def _make_generate_actions(self) -> None:
        self.generate = self._make(self.tr("&Generate"), "Ctrl+Return")
        self.generate_in_front = self._make(self.tr("Generate &Next"), "Ctrl+Shift+Return")
        self.cancel = self._make(self.tr("&Cancel"), "Esc")
        # No keys: a force stop is a press of its own.
        self.force_stop = self._make(self.tr("&Force Stop"))
        self.start_fleet = self._make(self.tr("&Start the Fleet"))
        self.unload_fleet = self._make(self.tr("&Unload the Fleet"))
        self.stop_fleet = self._make(self.tr("S&top the Fleet"))
        self._generate = (
            *(self.generate, self.generate_in_front, self.cancel, self.force_stop, None),
            *(self.start_fleet, self.unload_fleet, self.stop_fleet),
        )

    def _make(self, text: str, keys: Keys | None = None, *, is_checkable: bool = False) -> QAction:
        action = make_action(self._window, text, keys, is_checkable=is_checkable)
        self._window.addAction(action)
        return action

    def _menu(self, bar: QMenuBar, title: str, actions: ActionGroup) -> QMenu:
        menu = bar.addMenu(title)
        for action in actions:
            if action is None:
                menu.addSeparator()
            else:
                menu.addAction(action)
        return menu
