/**
 * Every stable error code of Holdfast and what it means: of the API's problem details, of an execution's error and of
 * the processes' own failures. `docs/errors.md` is made from this list.
 */
export const errorCodes = {
  advance_too_far:
    'A test let more time pass than its schedules can be followed through; use smaller steps.',
  api_key_not_found: 'No API key with this id exists in the project.',
  attempts_exhausted: 'The job failed on its last allowed attempt.',
  batch_awaited: 'A batch that is being put together was awaited; await its enqueue().',
  batch_member_exists:
    'A batch or a member of one was given an id that belongs to another job or batch.',
  batch_not_found: 'No batch, chain or graph with this id exists in the project.',
  batch_not_open: 'The batch has finished or was cancelled, and takes no more members.',
  batch_too_deep: 'Batches in each other are more than 100 levels deep; nothing was written.',
  batch_too_large:
    'A batch put together in one call has too many jobs or batches in it; nothing was written.',
  body_too_large: 'The body of the request is larger than the route accepts.',
  cancelled: 'The job was cancelled while its handler ran.',
  closed: 'The Holdfast instance was closed before the call.',
  config_invalid: 'A setting is missing or wrong; every problem is listed.',
  connect_failed: 'The HTTP destination could not be reached; retried.',
  connection_lost:
    'The connection to the HTTP destination ended before its answer was complete; retried.',
  credentials_invalid: 'The e-mail address or the password is wrong.',
  cron_invalid: 'The cron expression or interval is not accepted; the message says which part.',
  cross_origin:
    'The request carries the session cookie but does not come from the dashboard’s own origin.',
  cursor_invalid: 'The cursor is not one that this list gave within the last day.',
  database_refused:
    'The database server does not let the program in: user, password, database or rights are wrong.',
  database_unavailable: 'The database could not be reached or did not answer in time.',
  database_unsupported: 'The PostgreSQL server is older than version 15.',
  deadline_exceeded:
    'The HTTP destination did not answer completely within the request’s timeout; retried.',
  drain_failed: 'Attempts failed while a test drained its jobs; all of them are listed.',
  drain_timed_out: 'Jobs were still due or running when the time of a test’s drain was over.',
  egress_denied: 'The egress policy does not allow the HTTP destination; not retried.',
  embedded_postgres_data_dir_in_use:
    'The embedded server is run by another process, which alone may restart or remove it.',
  embedded_postgres_data_dir_unusable:
    'The data directory holds other files, or belongs to another account.',
  embedded_postgres_failed_to_start:
    'The embedded PostgreSQL did not start or stop; the end of its log is shown.',
  embedded_postgres_unsupported_platform:
    'No embedded PostgreSQL runs on this system; set DATABASE_URL to a server of your own.',
  embedded_postgres_wrong_version:
    'The data directory was made by another major version of PostgreSQL.',
  enqueue_incomplete:
    'An enqueue of many jobs ended in the middle; those before the error are there.',
  event_reserved: 'The event is one that Holdfast announces by itself, and nobody else may emit.',
  event_subscription_not_found: 'No event subscription with this id exists in the project.',
  forbidden: 'The role or the scopes of the caller do not allow this.',
  graph_invalid:
    'The jobs of a graph wait in a circle, for a job that is not there, or are too many.',
  handler_exited: 'The handler called process.exit(), which fails its attempt only.',
  handler_failed: 'The handler threw an error without a code of its own.',
  handler_missing: 'No handler for the job’s type is loaded in this worker.',
  http_request_invalid:
    'The payload of an http.request job breaks a rule; every problem is listed.',
  http_status: 'The HTTP destination answered with a status that is not a success.',
  idempotency_key_reused: 'The idempotency key was used before with another request.',
  internal_error: 'Something failed inside Holdfast; the request id finds it in the logs.',
  invalid_json: 'The body of the request is not JSON.',
  invalid_request: 'The request is not one that HTTP allows.',
  invalid_unicode: 'A text has invalid UTF-8, a NUL character or a lone surrogate.',
  job_not_found: 'No job with this id exists in the project.',
  job_not_in_state: 'The job’s status does not allow this action; the answer names the status.',
  json_too_complex: 'The JSON is nested too deep or has too many keys.',
  lease_lost: 'The worker’s lease on the job had ended, so its write changed nothing.',
  method_not_allowed: 'The path exists, but not with this method.',
  middleware_invalid:
    'A middleware around enqueues dropped jobs or gave no result for each; the message says whether they were written.',
  migration_changed: 'A migration was applied with other SQL than this build has.',
  non_retryable: 'The handler said that a retry is of no use.',
  not_found: 'Nothing is at this path.',
  not_in_thread: 'The handler runs in a thread, where this part of its context is missing.',
  number_not_exact: 'A number cannot be kept exactly; send it as a string.',
  options_invalid: 'Options of a call do not exist or break a rule; every one of them is listed.',
  overloaded: 'Too much is asked at once; the same request may succeed a little later.',
  parent_failed: 'A job that this one waited for ended otherwise than completed.',
  parent_missing:
    'A job has no completed parent of the type whose result it asked for, or several.',
  parent_result_gone:
    'History no longer has a job whose result was asked for by one that waited for it.',
  password_change_required: 'The password must be changed before anything else.',
  payload_invalid:
    'The payload breaks its type’s schema or is no JSON; each problem is named by its path.',
  payload_too_large: 'The payload or result is larger than allowed.',
  poison_pill: 'The job’s worker died three times while it ran.',
  precondition_failed: 'The settings were changed since the ETag in If-Match was read.',
  process_start_failed: 'A process of `holdfast up` ended while it was being started.',
  project_not_found: 'No project with this name exists, or the caller is no member of it.',
  query_too_slow: 'The database did not find the answer in time; narrow the filter.',
  queue_exists: 'A queue with this name exists in the project.',
  queue_not_empty: 'The queue still holds jobs; failed ones and dead letters count.',
  queue_not_found: 'No queue with this name exists in the project.',
  rate_limited: 'Too many requests; Retry-After says when to go on.',
  redirect_refused: 'The HTTP destination redirects and the redirect is not followed; not retried.',
  release_in_transaction:
    'The function of `context.transaction` gave a release; the transaction completes the job.',
  release_limit_exceeded: 'The job was released more often than allowed.',
  response_encoding_refused:
    'The HTTP answer has a content encoding that is not accepted; not retried.',
  response_invalid: 'The HTTP destination’s answer is not valid HTTP; retried.',
  response_too_large:
    'The HTTP answer’s headers or decompressed body are larger than allowed; not retried.',
  result_unserialisable:
    'The handler’s result could not be stored as JSON; a note was stored instead.',
  schedule_exists: 'A schedule with this name exists in the project.',
  schedule_not_found: 'No schedule with this id exists in the project.',
  schema_outdated: 'The database schema is missing, or older than this version of Holdfast needs.',
  schema_too_new: 'The database schema is newer than this version of Holdfast understands.',
  session_invalid: 'The session is over, was ended, or its token was used twice.',
  shutdown:
    'The worker is stopping: the reason of a handler’s abort signal, and of a start that was stopped.',
  step_invalid: 'The name of a step is not a text of 1 to 200 characters.',
  step_repeated: 'A handler used the name of a step twice in one execution.',
  step_result_lost: 'A step ran in an earlier execution, and its result could not be kept.',
  test_database_refused: 'The account may not create databases on the server that a test named.',
  test_server_missing: 'A test names no PostgreSQL server, and no embedded one is installed.',
  thread_message_unreadable:
    'A handler in a thread handed out what cannot be read outside of it: it is nested too deep.',
  thread_out_of_memory: 'The handler’s thread reached its memory limit and was ended.',
  ticket_invalid: 'The sign-in link was used before, or its time is over.',
  timed_out: 'The attempt ran longer than the job’s timeout.',
  timezone_invalid: 'The time zone is not an IANA zone name.',
  tls_failed: 'No trusted TLS connection to the HTTP destination could be made; retried.',
  transaction_aborted: 'The transaction could not commit: one of its statements had failed before.',
  transaction_committed: 'A transaction of the handler has completed the job already.',
  transaction_ended:
    'The transaction that was given ended before the call was done, and the rest of it was not run.',
  transaction_invalid: 'What was given as transaction is none of the library’s own.',
  transaction_open: 'The handler has another transaction open that completes the job.',
  typescript_unreadable:
    'The module of a handler in a thread is TypeScript, and neither Node.js nor tsx reads it there.',
  unauthenticated: 'No valid access token or API key came with the request.',
  uncaught_exception: 'The handler threw outside of its own promise, for example in a timer.',
  unique_key_held: 'Another job holds the unique key.',
  unsupported_media_type: 'The body is of a type or coding that the route does not accept.',
  validation_failed: 'Fields of the request break a rule; every one of them is listed.',
  wait_timed_out: 'The job or batch was not seen to end before the time for waiting was over.',
  worker_lost: 'A worker died with the job, and the job’s type forbids another run.',
  worker_not_found: 'No worker with this id exists in the project.',
} as const satisfies Record<string, string>;

/** One of the stable error codes. */
export type ErrorCode = keyof typeof errorCodes;
