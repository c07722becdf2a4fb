-- People, their sign-ins, and the keys of machines. Tokens and secrets are stored as hashes only.

-- name: count_users
select count(*)::integer as user_count from holdfast.users;

-- name: insert_user
-- No row back: somebody has the e-mail address already.
insert into holdfast.users (id, email, password_hash, password_change_required_at)
values ($1, $2, $3, case when $4::boolean then clock_timestamp() end)
on conflict (email) do nothing
returning id;

-- name: insert_membership
insert into holdfast.memberships (project_id, user_id, role)
select p.id, $2, $3
from holdfast.projects as p
where p.slug = $1
on conflict (project_id, user_id) do update set role = excluded.role;

-- name: find_user_by_email
select u.id, u.email, u.password_hash, u.disabled_at is not null as disabled
from holdfast.users as u
where u.email = $1;

-- name: read_user
select
  u.id, u.email, u.password_hash, u.password_change_required_at is not null as password_change_required,
  u.disabled_at is not null as disabled, u.created_at,
  coalesce(
    (
      select jsonb_agg(jsonb_build_object('project', p.slug, 'role', m.role) order by p.slug)
      from holdfast.memberships as m
      join holdfast.projects as p on p.id = m.project_id
      where m.user_id = u.id
    ),
    '[]'
  ) as memberships
from holdfast.users as u
where u.id = $1;

-- name: update_password
update holdfast.users
set password_hash = $2, password_change_required_at = null
where id = $1
returning id;

-- name: insert_session
insert into holdfast.sessions (id, user_id, method, user_agent, ip, expires_at)
values ($1, $2, $3, $4, $5, clock_timestamp() + $6::double precision * interval '1 millisecond');

-- name: revoke_session
update holdfast.sessions
set revoked_at = clock_timestamp(), revoked_reason = $2
where id = $1 and revoked_at is null
returning id;

-- name: revoke_sessions_of_user
update holdfast.sessions
set revoked_at = clock_timestamp(), revoked_reason = $2
where user_id = $1 and revoked_at is null;

-- name: insert_refresh_token
-- Lives for its idle time, but never longer than its session.
insert into holdfast.refresh_tokens (token_hash, session_id, expires_at)
select $1, s.id, least(s.expires_at, clock_timestamp() + $3::double precision * interval '1 millisecond')
from holdfast.sessions as s
where s.id = $2
on conflict do nothing;

-- name: lock_refresh_token
-- Locks the token, so that two uses of it at once are one after the other.
select
  t.session_id, s.user_id,
  t.used_at is not null as used,
  coalesce(t.used_at > clock_timestamp() - $2::double precision * interval '1 millisecond', false) as within_grace,
  s.revoked_at is null and s.expires_at > clock_timestamp() and t.expires_at > clock_timestamp() as valid
from holdfast.refresh_tokens as t
join holdfast.sessions as s on s.id = t.session_id
where t.token_hash = $1
for no key update of t;

-- name: mark_refresh_token_used
update holdfast.refresh_tokens set used_at = clock_timestamp() where token_hash = $1;

-- name: forget_sessions
-- Sessions that ended long ago, with their tokens.
delete from holdfast.sessions as s
using (
  select id
  from holdfast.sessions
  where expires_at < clock_timestamp() - $1::double precision * interval '1 millisecond'
  limit $2
) as old
where s.id = old.id
returning s.id;

-- name: insert_sign_in_ticket
insert into holdfast.sign_in_tickets (token_hash, user_id, expires_at)
values ($1, $2, clock_timestamp() + $3::double precision * interval '1 millisecond');

-- name: forget_sign_in_tickets
delete from holdfast.sign_in_tickets as t
using (
  select token_hash
  from holdfast.sign_in_tickets
  where expires_at < clock_timestamp() - $1::double precision * interval '1 millisecond'
  limit $2
) as old
where t.token_hash = old.token_hash
returning t.token_hash;

-- name: redeem_sign_in_ticket
-- One use only: the row that comes back was unused until now.
update holdfast.sign_in_tickets as t
set used_at = clock_timestamp()
from holdfast.users as u
where t.token_hash = $1 and t.used_at is null and t.expires_at > clock_timestamp()
  and u.id = t.user_id and u.disabled_at is null
returning t.user_id;

-- name: read_person_access
-- What a signed-in person may do now: asked for at every request, so that a removal acts at once.
select
  u.email, u.password_change_required_at is not null as password_change_required,
  p.id as project_id, p.slug as project_slug, m.role
from holdfast.sessions as s
join holdfast.users as u on u.id = s.user_id
left join holdfast.projects as p on p.slug = $3::text
left join holdfast.memberships as m on m.project_id = p.id and m.user_id = u.id
where s.id = $1 and s.user_id = $2
  and s.revoked_at is null and s.expires_at > clock_timestamp() and u.disabled_at is null;

-- name: list_projects_of_user
select p.id, p.slug, p.name, p.created_at, m.role
from holdfast.memberships as m
join holdfast.projects as p on p.id = m.project_id
where m.user_id = $1
order by p.slug;

-- name: insert_api_key
insert into holdfast.api_keys (project_id, id, name, secret_hash, scopes, created_by, expires_at)
values ($1, $2, $3, $4, $5, $6, $7)
on conflict do nothing
returning id, name, scopes, created_at, last_used_at, expires_at, revoked_at;

-- name: list_api_keys
-- By id, a page after the given one.
select k.id, k.name, k.scopes, k.created_at, k.last_used_at, k.expires_at, k.revoked_at
from holdfast.api_keys as k
where k.project_id = $1 and ($2::text is null or k.id > $2::text)
order by k.id
limit $3;

-- name: find_api_key
select
  k.project_id, p.slug as project_slug, k.name, k.secret_hash, k.scopes,
  k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp()) as valid
from holdfast.api_keys as k
join holdfast.projects as p on p.id = k.project_id
where k.id = $1;

-- name: touch_api_key
-- At most one write a minute.
update holdfast.api_keys
set last_used_at = clock_timestamp()
where id = $1 and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute');

-- name: revoke_api_key
update holdfast.api_keys
set revoked_at = coalesce(revoked_at, clock_timestamp())
where project_id = $1 and id = $2
returning id;
