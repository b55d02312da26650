-- Which sort of thing a belief calls its subject ("my cousin Jordan"): a subject that has any is looked at as a whole.
alter table examined_beliefs add column sense text; -- empty: it calls it none; null: examined before this was noted
