-- no-transaction
create index concurrently if not exists jobs_of_batch on holdfast.jobs (batch_id, id) where batch_id is not null;
