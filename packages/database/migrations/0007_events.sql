-- An application that emits an event again under the same id, because the answer was lost, makes no second one.
create unique index events_of_applications on holdfast.events (project_id, id) where job_id is null;

-- Which projects subscribed to an event, for statements about jobs of all projects.
create index event_subscriptions_of_event on holdfast.event_subscriptions (event, project_id);

-- Each row is written, numbered once, and removed when its time is over.
alter table holdfast.events set (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0,
  autovacuum_vacuum_insert_threshold = 50000,
  autovacuum_vacuum_cost_delay = 0
);

-- Since when nobody has heard of the worker; empty while it sends heartbeats, and after a clean stop.
alter table holdfast.workers add column lost_at timestamptz;
