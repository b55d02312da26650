-- An event leaves the outbox by being deleted, and the index on what waits is on rows without this time.
comment on column outbox.sent_at is
    'Null in every row: what was sent is deleted. The index on what waits is partial on it, so queries ask for null.';
