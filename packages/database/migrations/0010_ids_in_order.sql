-- A UUIDv7 (RFC 9562, section 5.7) with the milliseconds in front, then 12 bits of their fraction (section 6.2, method 3):
-- ids that one session makes by calls of their own sort in the order of the calls.
create or replace function holdfast.uuid_v7() returns uuid
language sql volatile
return (
  select encode(
    set_byte(set_byte(
      overlay(uuid_send(gen_random_uuid()) placing substring(int8send(micros / 1000) from 3) from 1 for 6),
      6, 112 + (fraction >> 8)::integer
    ), 7, (fraction & 255)::integer),
    'hex'
  )::uuid
  from (
    select micros, (micros % 1000) * 4096 / 1000 as fraction
    from (select (extract(epoch from clock_timestamp()) * 1000000)::bigint as micros) as clock
  ) as parts
);
