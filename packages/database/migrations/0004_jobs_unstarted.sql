-- no-transaction
create index concurrently if not exists jobs_unstarted on holdfast.jobs (start_deadline_at)
where start_deadline_at is not null and status in ('queued', 'scheduled');
