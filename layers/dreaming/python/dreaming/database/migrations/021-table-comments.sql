-- What each table is for, where everybody who looks at the database finds it; docs/reference/tables.md shows it.
comment on table slices is
    'The slices: one row for each organization''s own notes, each private owner''s, and each shared one. Ingest '
    'hands out places in line under the lock of this row.';
comment on table slice_counters is
    'How many notes and beliefs of each sort a slice holds, kept true by every transaction that changes one, so '
    'that status costs the same with a million notes.';
comment on table notes is
    'Raw notes at their current version, with the place in their slice (sequence) and what has become of them '
    '(state).';
comment on table note_versions is
    'The texts that edits replaced, so that a quote can still be compared with what it was taken from.';
comment on table connector_positions is
    'How far each connector has read a branch, a file or a folder, for ingest with --incremental.';
comment on table dream_cursor is
    'One row for each slice and pass: how far it has come, which run is in progress, who holds the lease, and why '
    'it holds.';
comment on table due_times is
    'When a slice next has work for a pass that does not follow the notes.';
comment on table dream_runs is
    'What each run of a pass over a slice did, counted, and how it ended.';
comment on table note_attempts is
    'Model calls for a note, recorded before they are made, so that a crash leaves a trace and the calls of a '
    'note are bounded.';
comment on table retired_notes is
    'Notes that were given up, with the reason, until somebody retries them.';
comment on table extractions is
    'Answers of the model from their arrival until the cursor has passed their note, so that a crash never pays '
    'twice.';
comment on table usage is
    'Calls and tokens of each organization by day, pass and model; the daily budgets count from it.';
comment on table outbox is
    'Events that are written with what they announce and sent once that is stored; ids only, never text.';
comment on table belief_lock is
    'The lock that every writer of a slice''s beliefs takes first, and the half-lives under which its fades_at '
    'were computed.';
comment on table beliefs is
    'What is believed: the fold over the live sources of each belief, and when it fades.';
comment on table belief_tokens is
    'The rarest words of each statement, as hashes: an exact index of word sets that are alike (Jaccard).';
comment on table belief_terms is
    'The words of each statement, as hashes, for search by BM25.';
comment on table belief_term_statistics is
    'How many statements a slice has and how long they are together, for search by BM25.';
comment on table belief_vectors is
    'The vector of each belief''s statement, one for each model.';
comment on table vector_spaces is
    'Which model''s vectors the readers of a slice search, which the embedding pass is filling, and the consent '
    'that it obeyed.';
comment on table embedding_attempts is
    'Texts that the embedder refuses; the third time they are left out.';
comment on table sources is
    'The evidence: what one note, or one person''s confirmation, says of a belief, with the exact quote and where '
    'it stands.';
comment on table belief_history is
    'What happened to each belief, with its state after it.';
comment on table relationships is
    'Typed edges between two beliefs, each a fold over the sources that assert it.';
comment on table relationship_sources is
    'Which sources assert a relationship.';
comment on table conflict_candidates is
    'Pairs of beliefs that consolidation leaves for the contradictions pass.';
comment on table examined_beliefs is
    'What the contradictions pass has seen of a belief; one whose row changed since is examined again.';
comment on table adjudications is
    'How two beliefs relate, decided once by a rule, a judge or a person; without a relation the pair is still open.';
comment on table timelines is
    'When each belief held, derived as a whole from the claims on one subject and attribute.';
comment on table merges is
    'Merges of two beliefs, with the rows of both as they were, so that a merge can be taken back.';
comment on table merged_sources is
    'Which belief each source belonged to before a merge moved it.';
comment on table aliases is
    'Names for one thing, as statements tell them.';
comment on table conversations is
    'Captured conversations: one row and one vector each.';
comment on table conversation_turns is
    'What was said in captured conversations, without secrets.';
comment on table conversation_terms is
    'The words of captured conversations, as hashes, for recall by BM25.';
comment on table conversation_notes is
    'Which notes synthesis made of which turns.';
comment on table autonomy_agents is
    'Agents with the score that they have earned.';
comment on table autonomy_actions is
    'What agents did, what became of it, and the flags that it was given.';
comment on table autonomy_audit is
    'Every change of a score with its reason, numbered without gaps: replayed from 75 they give the score.';
comment on table autonomy_dead_letters is
    'Actions that the judge could not score within three days, until somebody retries them.';
comment on table enrolment is
    'Whether an organization takes part, and what it consents to. Without a row: no.';
comment on table settings is
    'The settings that an organization has chosen for itself.';
comment on table audit is
    'Who changed which setting or consent, or erased something, when, from what to what.';
comment on table idempotency_keys is
    'Posts to the API that carry a key of their own, with what was answered, for a day.';
comment on table erasure_keys is
    'The random key of each organization under which its tombstones are named.';
comment on table tombstones is
    'What was erased and is not to come back, by names that tell nothing without the key.';
comment on table schema_migrations is
    'The migrations that this database has had.';
