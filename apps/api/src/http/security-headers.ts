import type { RequestHandler } from 'express';
import helmet from 'helmet';

/**
 * What browsers are told: no script but our own files, nothing inline, no frames, nothing from elsewhere.
 *
 * Styles alone may be inline: the component library sets sizes and positions as style attributes and elements. A style
 * cannot run code, and what could be read through one has nowhere to go, since only this origin may be connected to.
 * For the same reason trusted types are not demanded: the library fills its style elements as HTML.
 */
export const securityHeaders: RequestHandler = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:'],
      connectSrc: ["'self'"],
      fontSrc: ["'self'"],
      manifestSrc: ["'self'"],
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
      formAction: ["'self'"],
    },
  },
  referrerPolicy: { policy: 'no-referrer' },
  crossOriginOpenerPolicy: { policy: 'same-origin' },
  crossOriginResourcePolicy: { policy: 'same-origin' },
  frameguard: { action: 'deny' },
  // Only a proxy knows whether every host name here has https; it may add the header.
  strictTransportSecurity: false,
});

/** Answers of the API are for this request alone. */
export const neverStore: RequestHandler = (_request, response, next) => {
  response.setHeader('cache-control', 'no-store');
  next();
};
