import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Http2SecureServer } from 'node:http2';
import { createSecureServer } from 'node:http2';
import { request as requestOver } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CertificateAuthority } from './fixtures/certificates.ts';
import { makeAuthority } from './fixtures/certificates.ts';
import { makeGantryFolder } from './fixtures/gantry-process.ts';
import type { ModernServer } from './fixtures/modern-server.ts';
import { startModernServer } from './fixtures/modern-server.ts';
import { sendNewer } from './fixtures/newer-request.ts';

let authority: CertificateAuthority;
let server: Http2SecureServer;
let upstream: ModernServer;
const versions: string[] = [];
beforeAll(async () => {
  authority = makeAuthority('test');
  const { certFile, keyFile } = authority.sign('localhost');
  const options = { cert: readFileSync(certFile), key: readFileSync(keyFile), allowHTTP1: true };
  upstream = await startModernServer();
  server = createSecureServer(options, (request, response) => {
    if (request.url !== '/mcp') return void response.end(request.httpVersion);
    versions.push(request.httpVersion);
    const { method, headers } = request;
    const passed = requestOver(upstream.url, { method, headers: { ...headers, host: new URL(upstream.url).host } });
    request.pipe(passed);
    passed.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  server.close();
  await upstream[Symbol.asyncDispose]();
  authority[Symbol.dispose]();
});

/** What `program` prints in a process of its own, which trusts the server at `url`; it speaks HTTP/2 with whoever offers that. */
const run = async (program: string): Promise<string> => {
  const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
  const module = new URL('../packages/gantry/src/net/http1-only.ts', import.meta.url).href;
  const head = `const url = ${JSON.stringify(url)}; const { http1Fetch, useHttp1Only } = await import(${JSON.stringify(module)});
    const { Agent, setGlobalDispatcher } = await import('undici');
    const said = async (answering) => (await answering).text();`;
  const args = ['--conditions=gantry-source', '--input-type=module', '--eval', `${head}\n${program}`];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: fileURLToPath(new URL('../packages/gantry', import.meta.url)),
    env: { PATH: process.env['PATH'], NODE_EXTRA_CA_CERTS: authority.caFile },
  });
  return stdout.trim();
};

describe('a server that speaks HTTP/2', () => {
  it('is spoken with in HTTP/1.1 by the fetch for models, whatever others do', async () => {
    expect(await run('console.log(await said(fetch(url)), await said(http1Fetch(url)))')).toBe('2.0 1.1');
  });

  it('is spoken with in HTTP/1.1 by every fetch of a process that is told so', async () => {
    expect(await run('await useHttp1Only(); console.log(await said(fetch(url)))')).toBe('1.1');
  });

  it('is reached over the connections that the process has, a proxy or others', async () => {
    const program = `
      const through = [];
      const agent = new Agent().compose((dispatch) => (request, handler) => {
        through.push(request.path);
        return dispatch(request, handler);
      });
      setGlobalDispatcher(agent);
      console.log(await said(http1Fetch(url + 'mine')), through.join());`;
    expect(await run(program)).toBe('1.1 /mine');
  });

  it('is called in HTTP/1.1 where it is an MCP server of a gateway', async () => {
    using folder = makeGantryFolder();
    const { port } = server.address() as AddressInfo;
    folder.write('mcp.json', { mcpServers: { s: { url: `https://localhost:${port}/mcp` } } });
    await using gateway = await folder.serve(['--port', '0'], { NODE_EXTRA_CA_CERTS: authority.caFile });
    const { result } = await sendNewer(`${gateway.url}/mcp/s`, 'tools/call', {
      name: 'echo',
      arguments: { text: 'hi' },
    });
    expect(result).toMatchObject({ content: [{ text: 'hi' }] });
    expect(new Set(versions)).toEqual(new Set(['1.1']));
  });
});
