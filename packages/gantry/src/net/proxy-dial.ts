import { request } from 'node:http';
import { GantryError } from '../kernel/errors.ts';
import type { Dial } from './guarded-connector.ts';

/**
 * Dials through an HTTP proxy that the operator named. The tunnel (CONNECT, RFC 9110 section 9.3.6) goes to the address that has
 * been judged, for http too, so the proxy resolves no name on our behalf.
 *
 * @param proxy its user name and password, if any, go to the proxy only.
 */
export const proxyDial =
  (proxy: URL, dial: Dial): Dial =>
  (wanted, callback) => {
    const toProxy = { hostname: proxy.hostname, host: proxy.host, protocol: proxy.protocol, port: proxy.port };
    dial(toProxy, (error, proxySocket) => {
      if (error) {
        callback(error, null);
        return;
      }
      const address = wanted.hostname.includes(':') ? `[${wanted.hostname}]` : wanted.hostname;
      const path = `${address}:${wanted.port || (wanted.protocol === 'https:' ? 443 : 80)}`;
      const refuse = (problem: string, cause?: unknown): void => {
        proxySocket.destroy();
        const message = `The proxy "${proxy.host}" opens no tunnel to ${path}: ${problem}.`;
        callback(new GantryError('execution_failed', message, { retry: 'later', cause }), null);
      };
      const headers = { host: path, ...proxyAuthorization(proxy) };
      const tunnel = request({ method: 'CONNECT', path, headers, createConnection: () => proxySocket });
      tunnel.once('connect', (answer, socket) => {
        if (answer.statusCode !== 200) refuse(`HTTP ${answer.statusCode}`);
        else if (wanted.protocol === 'https:') dial({ ...wanted, httpSocket: socket }, callback);
        else callback(null, socket);
      });
      tunnel.once('response', (answer) => refuse(`HTTP ${answer.statusCode}`));
      tunnel.once('error', (cause) => refuse(cause.message, cause));
      tunnel.end();
    });
  };

const proxyAuthorization = ({ username, password }: URL): Record<string, string> => {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
};
