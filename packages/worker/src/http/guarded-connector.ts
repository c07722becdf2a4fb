import { once } from 'node:events';
import { connect as connectTcp, isIP } from 'node:net';
import type { LookupFunction, Socket } from 'node:net';
import { connect as connectTls, createSecureContext, rootCertificates } from 'node:tls';
import type { SecureContext } from 'node:tls';
import type { buildConnector } from 'undici';
import { canonicalAddress } from './address-gate.ts';
import { resolveVetted } from './address-resolver.ts';
import type { ResolveOptions, VettedAddress } from './address-resolver.ts';
import { startDeadline } from './deadline.ts';
import { ExchangeFailure } from './exchange-failure.ts';

/** What the connector needs. */
export interface GuardedConnectorOptions extends ResolveOptions {
  /** From {@link makeSecureContext}. */
  readonly secureContext: SecureContext;
}

type Target = buildConnector.Options;

const connectTimeoutMs = 5_000;

/**
 * What every TLS connection shares: TLS 1.2 at least, and whom to trust. Made once, because reading certificates is slow.
 *
 * @param trustedCertificates PEM certificates trusted beside the built-in ones.
 */
export function makeSecureContext(trustedCertificates: readonly string[] = []): SecureContext {
  const ca = [...rootCertificates, ...trustedCertificates];
  return createSecureContext({
    minVersion: 'TLSv1.2',
    // Without a list of its own it also has the certificates of NODE_EXTRA_CA_CERTS.
    ...(trustedCertificates.length === 0 ? {} : { ca }),
  });
}

/**
 * The connector of an undici client that opens sockets only to addresses that pass the address gate.
 *
 * The name is resolved here, once; the socket gets the vetted addresses instead of the name, and its remote address is
 * compared with them again before a byte is sent. It heeds the signal itself, because undici reacts to an abort only once a
 * socket is there.
 */
export function guardedConnector(options: GuardedConnectorOptions): buildConnector.connector {
  return (target, callback) => {
    connectGuarded(target, options).then(
      (socket) => {
        callback(null, socket);
      },
      (error: unknown) => {
        callback(error instanceof Error ? error : new Error(String(error)), null);
      },
    );
  };
}

async function connectGuarded(target: Target, options: GuardedConnectorOptions): Promise<Socket> {
  const vetted = await resolveVetted(target.hostname, options);
  const deadline = startDeadline({
    parent: options.signal,
    timeoutMs: connectTimeoutMs,
    reason: new ExchangeFailure('connect_failed', 'not connected in time'),
  });
  try {
    const socket = await openSocket(target, vetted, deadline.signal);
    if (target.protocol !== 'https:') return socket;
    return await secureSocket(socket, { target, options, signal: deadline.signal });
  } finally {
    deadline.stop();
  }
}

async function openSocket(
  target: Target,
  vetted: readonly VettedAddress[],
  signal: AbortSignal,
): Promise<Socket> {
  const socket = connectTcp({
    host: target.hostname,
    port: portOf(target),
    lookup: pinnedLookup(vetted),
    autoSelectFamily: true,
    noDelay: true,
  });
  await ready(socket, { event: 'connect', failure: 'connect_failed', signal });
  if (!isVetted(socket.remoteAddress, vetted)) {
    socket.destroy();
    throw new ExchangeFailure('egress_denied', 'connected to an address that was not vetted');
  }
  return socket;
}

async function secureSocket(
  socket: Socket,
  context: {
    readonly target: Target;
    readonly options: GuardedConnectorOptions;
    readonly signal: AbortSignal;
  },
): Promise<Socket> {
  const { target, options, signal } = context;
  const secured = connectTls({
    socket,
    host: target.hostname,
    servername: isIP(target.hostname) === 0 ? target.hostname : '',
    ALPNProtocols: ['http/1.1'],
    // Named, so that NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment does not switch verification off.
    rejectUnauthorized: true,
    secureContext: options.secureContext,
  });
  await ready(secured, { event: 'secureConnect', failure: 'tls_failed', signal });
  return secured;
}

async function ready(
  socket: Socket,
  wait: {
    readonly event: 'connect' | 'secureConnect';
    readonly failure: 'connect_failed' | 'tls_failed';
    readonly signal: AbortSignal;
  },
): Promise<void> {
  // A socket without a listener would end the process if it failed after this wait.
  socket.on('error', () => undefined);
  try {
    await once(socket, wait.event, { signal: wait.signal });
  } catch (error) {
    socket.destroy();
    wait.signal.throwIfAborted();
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new ExchangeFailure(wait.failure, code);
  }
}

/** Answers every question of the socket with the vetted addresses, whatever the name has become by now. */
function pinnedLookup(vetted: readonly VettedAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    if (options.all === true) {
      callback(null, [...vetted]);
      return;
    }
    const [first] = vetted;
    callback(null, first?.address ?? '', first?.family);
  };
}

function isVetted(remote: string | undefined, vetted: readonly VettedAddress[]): boolean {
  if (remote === undefined) return false;
  const connected = canonicalAddress(remote);
  return vetted.some(({ address }) => canonicalAddress(address) === connected);
}

function portOf(target: Target): number {
  if (target.port !== '') return Number(target.port);
  return target.protocol === 'https:' ? 443 : 80;
}
