-- A slice whose cursor was rewound, so that its notes are read again: since when, and up to where.
alter table dream_cursor
    add column rewound_at timestamptz,
    add column rewound_from bigint, -- the position before; while the cursor is below it, notes are read again
    add check ((rewound_at is null) = (rewound_from is null));
