"""Enqueues a job over HTTP, waits for its end and prints its result.

Python 3.9 or newer and nothing else. HOLDFAST_API_KEY is an API key; HOLDFAST_URL is where the API
is, unless at http://127.0.0.1:3000.
"""

import json
import os
import sys
import time
import uuid
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

ENDED = {"completed", "failed", "dead_letter", "cancelled"}
TRIES = 5


class Problem(Exception):
    """An error as the API tells it (RFC 9457): `code` is stable, `detail` is for people."""

    def __init__(self, status, body):
        super().__init__(f"{status} {body.get('code')}: {body.get('detail') or body.get('title')}")
        self.status = status
        self.code = body.get("code")
        self.errors = body.get("errors", [])


class Holdfast:
    """The part of the API that a producer of jobs needs."""

    def __init__(self, url, api_key, project="default"):
        self._base = f"{url.rstrip('/')}/api/v1/projects/{project}"
        self._api_key = api_key

    def enqueue(self, job_type, payload, key=None, **options):
        """Enqueues one job. The same `key` again, within a day, gives the same job again."""
        body = {"type": job_type, "payload": payload, **options}
        return self._call("POST", "/jobs", body, {"Idempotency-Key": key or str(uuid.uuid4())})

    def wait(self, job_id):
        """Waits until the job has ended, in whatever way, and gives it with its executions."""
        while True:
            job = self._call("GET", f"/jobs/{job_id}?wait=20s")
            if job["status"] in ENDED:
                return job

    def cancel(self, job_id, reason):
        """Cancels a job; a problem 409 when it has ended already."""
        return self._call("POST", f"/jobs/{job_id}/cancel", {"reason": reason})

    def _call(self, method, path, body=None, headers=None):
        data = None if body is None else json.dumps(body).encode()
        request = Request(self._base + path, data=data, method=method, headers=headers or {})
        request.add_header("Authorization", f"Bearer {self._api_key}")
        if data is not None:
            request.add_header("Content-Type", "application/json")
        for attempt in range(1, TRIES + 1):
            try:
                with urlopen(request, timeout=70) as response:
                    return json.load(response)
            except HTTPError as error:
                # Only these may go away by themselves. An idempotency key makes repeating safe.
                if error.code not in (429, 503) or attempt == TRIES:
                    raise problem_of(error) from None
                time.sleep(float(error.headers.get("Retry-After", attempt)))
            except URLError:
                if attempt == TRIES:
                    raise
                time.sleep(attempt)


def problem_of(error):
    """What the API answered; something between it and us may have answered instead."""
    try:
        return Problem(error.code, json.load(error))
    except ValueError:
        return Problem(error.code, {"code": "no_problem_document", "title": error.reason})


def main():
    api_key = os.environ.get("HOLDFAST_API_KEY")
    if not api_key:
        sys.exit("HOLDFAST_API_KEY is not set; make a key in the dashboard, under Settings.")
    holdfast = Holdfast(os.environ.get("HOLDFAST_URL", "http://127.0.0.1:3000"), api_key)
    name = sys.argv[1] if len(sys.argv) > 1 else "world"

    key = f"greeting-{uuid.uuid4()}"
    job = holdfast.enqueue("demo.greet", {"name": name}, key=key, tags=["python"])
    print(f"enqueued {job['id']}")
    ended = holdfast.wait(job["id"])
    print(f"{ended['status']}: {ended['result']['greeting']}")

    # An answer that got lost: send the same again, and get the same job.
    again = holdfast.enqueue("demo.greet", {"name": name}, key=key, tags=["python"])
    print(f"the same job: {again['id'] == job['id']}")

    # The key was used for something else before: 422.
    try:
        holdfast.enqueue("demo.greet", {"name": "somebody else"}, key=key)
    except Problem as problem:
        print(f"refused: {problem.status} {problem.code}")

    # A mistake in the request: 422, with the place of each problem.
    try:
        holdfast.enqueue("demo.greet", {"name": name}, priority=12)
    except Problem as problem:
        print(f"refused: {problem.status} {problem.code} at {problem.errors[0]['pointer']}")

    # The job is over, so it cannot be cancelled: 409.
    try:
        holdfast.cancel(job["id"], "too late")
    except Problem as problem:
        print(f"refused: {problem.status} {problem.code}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
    except (Problem, URLError) as error:
        sys.exit(str(error))
