"""Schema of the chat database, and the migrations from one version of it to the next.

`PRAGMA user_version` counts the steps that have been taken. A step is never edited once released; a new one is added.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

STEPS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE chats (
            id INTEGER PRIMARY KEY,
            title TEXT NOT NULL DEFAULT '',
            title_by_hand INTEGER NOT NULL DEFAULT 0,
            created_at REAL NOT NULL,
            updated_at REAL NOT NULL,
            deleted_at REAL,
            draft TEXT NOT NULL DEFAULT '',
            leaf_id INTEGER
        )
        """,
        """
        CREATE TABLE messages (
            id INTEGER PRIMARY KEY,
            chat_id INTEGER NOT NULL REFERENCES chats(id) ON DELETE CASCADE,
            parent_id INTEGER REFERENCES messages(id) ON DELETE CASCADE,
            role TEXT NOT NULL CHECK (role IN ('system', 'user', 'assistant')),
            content TEXT NOT NULL,
            token_ids BLOB NOT NULL DEFAULT x'',
            state TEXT NOT NULL DEFAULT 'whole' CHECK (state IN ('whole', 'streaming', 'cut')),
            finish TEXT NOT NULL DEFAULT '',
            stats TEXT NOT NULL DEFAULT '{}',
            model TEXT NOT NULL DEFAULT '',
            created_at REAL NOT NULL
        )
        """,
        "CREATE INDEX messages_by_chat ON messages(chat_id)",
        "CREATE INDEX messages_by_parent ON messages(parent_id)",
        "CREATE INDEX chats_by_time ON chats(updated_at) WHERE deleted_at IS NULL",
    ),
    (  # folders, pins, where one had read to, a chat's own settings, presets, attachments, search over all messages
        "CREATE TABLE folders (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
        "ALTER TABLE chats ADD COLUMN folder_id INTEGER REFERENCES folders(id) ON DELETE SET NULL",
        "ALTER TABLE chats ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE chats ADD COLUMN place TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE chats ADD COLUMN style TEXT NOT NULL DEFAULT '{}'",
        "ALTER TABLE messages ADD COLUMN attachments TEXT NOT NULL DEFAULT '[]'",
        "CREATE TABLE presets (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, style TEXT NOT NULL)",
        "UPDATE messages SET state = 'cut' WHERE state = 'streaming'",  # the index holds none that grows
        """
        CREATE VIRTUAL TABLE found USING fts5(content, content='messages', content_rowid='id', tokenize='trigram')
        """,
        "INSERT INTO found(found) VALUES ('rebuild')",
        """
        CREATE TRIGGER found_added AFTER INSERT ON messages WHEN new.state <> 'streaming' BEGIN
            INSERT INTO found(rowid, content) VALUES (new.id, new.content);
        END
        """,
        """
        CREATE TRIGGER found_removed AFTER DELETE ON messages WHEN old.state <> 'streaming' BEGIN
            INSERT INTO found(found, rowid, content) VALUES ('delete', old.id, old.content);
        END
        """,
        """
        CREATE TRIGGER found_changed AFTER UPDATE OF content, state ON messages BEGIN
            INSERT INTO found(found, rowid, content)
                SELECT 'delete', old.id, old.content WHERE old.state <> 'streaming';
            INSERT INTO found(rowid, content) SELECT new.id, new.content WHERE new.state <> 'streaming';
        END
        """,
    ),
    (  # messages that wait for an answer to end
        "ALTER TABLE chats ADD COLUMN queue TEXT NOT NULL DEFAULT '[]'",
    ),
    (  # what is attached to drafts: apart from the chats, whose rows the list reads; 0 is the chat without a message
        "CREATE TABLE drafts (chat_id INTEGER PRIMARY KEY, attachments TEXT NOT NULL)",
        """
        CREATE TRIGGER draft_removed AFTER DELETE ON chats BEGIN
            DELETE FROM drafts WHERE chat_id = old.id;
        END
        """,
    ),
    # search for one or two characters: trigrams that begin with them, and messages that end with them (see `short`).
    # `found` is the full-text index of messages, `ends` that of their last characters; released names stay.
    (
        "CREATE VIRTUAL TABLE found_threes USING fts5vocab(found, instance)",
        "CREATE VIRTUAL TABLE ends USING fts5(tail, content='', tokenize='trigram')",
        "CREATE VIRTUAL TABLE ends_threes USING fts5vocab(ends, instance)",
        """
        INSERT INTO ends(rowid, tail)
            SELECT id, substr(content, -2) || char(1, 1) FROM messages WHERE state <> 'streaming'
        """,
        """
        CREATE TRIGGER ends_added AFTER INSERT ON messages WHEN new.state <> 'streaming' BEGIN
            INSERT INTO ends(rowid, tail) VALUES (new.id, substr(new.content, -2) || char(1, 1));
        END
        """,
        """
        CREATE TRIGGER ends_removed AFTER DELETE ON messages WHEN old.state <> 'streaming' BEGIN
            INSERT INTO ends(ends, rowid, tail) VALUES ('delete', old.id, substr(old.content, -2) || char(1, 1));
        END
        """,
        """
        CREATE TRIGGER ends_changed AFTER UPDATE OF content, state ON messages BEGIN
            INSERT INTO ends(ends, rowid, tail)
                SELECT 'delete', old.id, substr(old.content, -2) || char(1, 1) WHERE old.state <> 'streaming';
            INSERT INTO ends(rowid, tail)
                SELECT new.id, substr(new.content, -2) || char(1, 1) WHERE new.state <> 'streaming';
        END
        """,
        "CREATE INDEX messages_by_place ON messages(chat_id, parent_id)",  # a chat's tree without its messages
        "DROP INDEX messages_by_chat",
    ),
    (  # which model or team answers in a chat
        "ALTER TABLE chats ADD COLUMN model TEXT NOT NULL DEFAULT ''",
    ),
    (  # documents that a chat searches (0 is the chat without a message), and passages that went with a question
        "CREATE TABLE documents (chat_id INTEGER PRIMARY KEY, paths TEXT NOT NULL)",
        """
        CREATE TRIGGER documents_removed AFTER DELETE ON chats BEGIN
            DELETE FROM documents WHERE chat_id = old.id;
        END
        """,
        "ALTER TABLE messages ADD COLUMN sources TEXT NOT NULL DEFAULT '[]'",
    ),
    (  # calls of tools that an answer made, and which tools a chat may use
        "ALTER TABLE messages ADD COLUMN tools TEXT NOT NULL DEFAULT '[]'",
        "ALTER TABLE chats ADD COLUMN tools TEXT NOT NULL DEFAULT '{}'",
    ),
    # images of messages, drafts and queued messages, whose attachments name them by digest (see app/storage/images.py)
    (
        "CREATE TABLE pictures (digest TEXT PRIMARY KEY, data BLOB NOT NULL)",
        """
        CREATE TABLE picture_uses (
            kind TEXT NOT NULL CHECK (kind IN ('message', 'draft', 'queue')),
            owner INTEGER NOT NULL,
            digest TEXT NOT NULL,
            PRIMARY KEY (kind, owner, digest)
        ) WITHOUT ROWID
        """,
        "CREATE INDEX picture_uses_by_digest ON picture_uses(digest)",
        """
        CREATE TRIGGER pictures_of_message_removed AFTER DELETE ON messages BEGIN
            DELETE FROM picture_uses WHERE kind = 'message' AND owner = old.id;
        END
        """,
        """
        CREATE TRIGGER pictures_of_draft_removed AFTER DELETE ON drafts BEGIN
            DELETE FROM picture_uses WHERE kind = 'draft' AND owner = old.chat_id;
        END
        """,
        """
        CREATE TRIGGER pictures_of_queue_removed AFTER DELETE ON chats BEGIN
            DELETE FROM picture_uses WHERE kind = 'queue' AND owner = old.id;
        END
        """,
        """
        CREATE TRIGGER picture_unused AFTER DELETE ON picture_uses
            WHEN NOT EXISTS (SELECT 1 FROM picture_uses WHERE digest = old.digest)
        BEGIN
            DELETE FROM pictures WHERE digest = old.digest;
        END
        """,
    ),
)


class NewerDatabase(Exception):
    """The file was written by a later version of Underhill."""


def migrate(connection: sqlite3.Connection, steps: Sequence[Sequence[str]] = STEPS) -> int:
    """Take the migration steps that are missing, each whole or not at all. Returns how many were taken.

    Raises NewerDatabase where the file has taken more steps than this version knows; the file stays as it is.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(steps):
        raise NewerDatabase(f"database version {version}, known up to {len(steps)}")
    for number, step in enumerate(steps[version:], start=version + 1):
        # The write lock at once: a second window that opens the file waits here, and then finds the step taken.
        connection.execute("BEGIN IMMEDIATE")
        try:
            for statement in step:
                connection.execute(statement)
            # In the same transaction as the step: a kill in between takes back both, and the step is never taken twice.
            connection.execute(f"PRAGMA user_version = {number}")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
    return len(steps) - version
