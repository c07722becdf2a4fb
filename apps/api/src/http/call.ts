import type { RouteName, Routes } from '@holdfast/contract';
import type { Request, Response } from 'express';
import type { Logger } from '@holdfast/runtime';
import type { z } from 'zod';
import type { Principal } from './principal.ts';

type Output<R, K extends string> = R extends { readonly [P in K]: infer S }
  ? S extends z.ZodType
    ? z.output<S>
    : undefined
  : undefined;

/** The project that a route is about. */
export interface CallProject {
  readonly id: string;
  readonly slug: string;
}

/** A request that was authenticated, authorised and read by its route's schemas. */
export interface Call<N extends RouteName> {
  readonly params: Output<Routes[N], 'params'>;
  readonly query: Output<Routes[N], 'query'>;
  readonly body: Output<Routes[N], 'body'>;
  /** The bytes of the body, to tell requests apart. */
  readonly bodyBytes: Buffer;
  readonly principal: PrincipalOf<N>;
  readonly project: Routes[N]['access'] extends { readonly kind: 'project' }
    ? CallProject
    : undefined;
  readonly request: Request;
  readonly response: Response;
  readonly requestId: string;
  readonly logger: Logger;
}

type PrincipalOf<N extends RouteName> = Routes[N]['access']['kind'] extends
  'public' | 'session_cookie'
  ? undefined
  : Routes[N]['access']['kind'] extends 'person'
    ? Extract<Principal, { readonly kind: 'person' }>
    : Principal;

/** What a handler answers. */
export interface Answer<Body> {
  /** The route's first status when left out. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Body;
}

type BodyOf<N extends RouteName> = Routes[N] extends {
  readonly responseType: 'text/event-stream';
}
  ? AsyncIterable<string>
  : Routes[N]['response'] extends z.ZodType
    ? z.output<Routes[N]['response']>
    : undefined;

/** The handler of one route. */
export type Handler<N extends RouteName> = (call: Call<N>) => Promise<Answer<BodyOf<N>>>;

/** The handlers of some routes, by the names of their operations. */
export type Handlers<N extends RouteName = RouteName> = { readonly [Name in N]: Handler<Name> };
