/**
 * Takes the one-time ticket of a sign-in link out of the page's address, before anything else can read, log or keep it.
 *
 * @returns the ticket, or undefined when the address has none.
 */
export function takeTicket(): string | undefined {
  const url = new URL(window.location.href);
  const ticket = url.searchParams.get('ticket');
  if (ticket === null) return undefined;
  url.searchParams.delete('ticket');
  window.history.replaceState(null, '', `${url.pathname}${url.search}${url.hash}`);
  return ticket === '' ? undefined : ticket;
}
