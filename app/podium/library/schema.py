"""The library's tables, and the way from each older form of them to this one.

Rule for whoever changes the tables: never edit a step that was shipped; append one.
"""

from __future__ import annotations

import sqlite3

_QUEUE_AND_HISTORY = """
CREATE TABLE queue (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    place INTEGER NOT NULL,
    status TEXT NOT NULL,
    request TEXT NOT NULL,
    fleet TEXT NOT NULL,
    files TEXT NOT NULL,
    failure TEXT NOT NULL,
    added_at INTEGER NOT NULL
);
CREATE INDEX queue_by_place ON queue (place);
CREATE TABLE history (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    finished_at INTEGER NOT NULL,
    clip TEXT NOT NULL,
    path TEXT NOT NULL,
    request TEXT NOT NULL,
    fleet TEXT,
    model_name TEXT NOT NULL,
    duration_s REAL,
    is_starred INTEGER NOT NULL DEFAULT 0,
    is_missing INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX history_by_time ON history (finished_at DESC, key DESC);
CREATE INDEX history_by_star ON history (finished_at DESC, key DESC) WHERE is_starred;
CREATE INDEX history_by_model ON history (model_name, finished_at DESC, key DESC);
CREATE INDEX history_by_path ON history (path);
CREATE TABLE history_lora (
    name TEXT NOT NULL,
    history_key INTEGER NOT NULL REFERENCES history (key) ON DELETE CASCADE,
    PRIMARY KEY (name, history_key)
) WITHOUT ROWID;
CREATE INDEX history_lora_by_key ON history_lora (history_key);
CREATE TABLE history_words (
    history_key INTEGER PRIMARY KEY REFERENCES history (key) ON DELETE CASCADE,
    words TEXT NOT NULL
);
CREATE TABLE flag (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""

_WHAT_THIS_MACHINE_KNOWS = """
CREATE TABLE timing (
    id INTEGER PRIMARY KEY,
    fleet TEXT NOT NULL,
    num_tokens INTEGER NOT NULL,
    phase TEXT NOT NULL,
    num_steps INTEGER,
    duration_s REAL NOT NULL
);
CREATE INDEX timing_by_fleet ON timing (fleet, phase, num_tokens, id DESC);
CREATE TABLE prompt (
    prompt TEXT NOT NULL,
    negative_prompt TEXT NOT NULL,
    used INTEGER NOT NULL,
    words TEXT NOT NULL,
    PRIMARY KEY (prompt, negative_prompt)
) WITHOUT ROWID;
CREATE INDEX prompt_by_use ON prompt (used DESC);
CREATE TABLE preset (name TEXT PRIMARY KEY, preset TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE form (name TEXT PRIMARY KEY, form TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE file (
    path TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    num_bytes INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    fingerprint TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX file_by_fingerprint ON file (fingerprint);
CREATE INDEX file_by_name ON file (name);
"""

_WHAT_A_CHECK_SAID = """
ALTER TABLE queue ADD COLUMN notes TEXT NOT NULL DEFAULT '[]';
"""

MIGRATIONS = (_QUEUE_AND_HISTORY, _WHAT_THIS_MACHINE_KNOWS, _WHAT_A_CHECK_SAID)
"""Step k brings tables of version k to version k + 1."""

VERSION = len(MIGRATIONS)


def version_of(connection: sqlite3.Connection) -> int:
    """Return the version of the tables; 0 where there are none."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the tables to this version, each step whole or not at all.

    Raises:
        sqlite3.Error: A step could not be done; the tables are as the step before it left them.
    """
    for step in range(version_of(connection), VERSION):
        # `executescript` ends a transaction that is open, so each step brings its own.
        script = f"BEGIN IMMEDIATE;\n{MIGRATIONS[step]}\nPRAGMA user_version = {step + 1};\nCOMMIT;"
        try:
            connection.executescript(script)
        except sqlite3.Error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
