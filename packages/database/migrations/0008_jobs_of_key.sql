-- no-transaction
create index concurrently if not exists jobs_of_key on holdfast.jobs (project_id, (unique_lock ->> 'key'), id)
where unique_lock is not null;
