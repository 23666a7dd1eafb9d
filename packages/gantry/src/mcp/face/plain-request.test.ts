import { describe, expect, it } from 'vitest';
import { toPlainModernRequest, toPlainSessionRequest } from './plain-request.ts';

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
};
const accept = 'application/json, text/event-stream';
const request = (headers: Record<string, string>): Request => new Request('http://h/mcp', { method: 'POST', headers });
const message = (change: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 't' },
  ...change,
});

describe('toPlainModernRequest', () => {
  const headers = { accept, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 't' };
  const call = (params: object = {}) => message({ params: { name: 't', _meta: envelope, ...params } });
  const meta = (change: object) => call({ _meta: { ...envelope, ...change } });

  it('reads a call and a list', () => {
    const args = { a: 1 };
    expect(toPlainModernRequest(request(headers), call({ arguments: args }))).toMatchObject({
      id: 1,
      call: { name: 't', arguments: args, meta: envelope },
    });
    const { 'mcp-name': _name, ...rest } = headers;
    const list = message({ id: 'x', method: 'tools/list', params: { _meta: envelope } });
    expect(toPlainModernRequest(request({ ...rest, 'mcp-method': 'tools/list' }), list)).toMatchObject({
      id: 'x',
      call: undefined,
    });
  });

  it('reads a call with a progress token and a trace', () => {
    const traced = meta({ progressToken: 7, traceparent: 'x' });
    expect(toPlainModernRequest(request(headers), traced)?.call?.meta).toMatchObject({ progressToken: 7 });
  });

  it.each([
    { odd: 'no version header', change: { 'mcp-protocol-version': '' } },
    { odd: 'another version header', change: { 'mcp-protocol-version': '2025-11-25' } },
    { odd: 'another method header', change: { 'mcp-method': 'tools/list' } },
    { odd: 'another name header', change: { 'mcp-name': 'u' } },
    { odd: 'an encoded name header', change: { 'mcp-name': '=?base64?dA==?=' } },
    { odd: 'a client that takes no streams', change: { accept: 'application/json' } },
  ])('leaves $odd to the protocol server', ({ change }) => {
    expect(toPlainModernRequest(request({ ...headers, ...change }), call())).toBeUndefined();
  });

  it.each([
    { odd: 'a list of messages', body: [call()] },
    { odd: 'no message', body: null },
    { odd: 'another JSON-RPC', body: { ...call(), jsonrpc: '1.0' } },
    { odd: 'a notification', body: { ...call(), id: undefined } },
    { odd: 'an id that is no integer', body: { ...call(), id: 1.5 } },
    { odd: 'another method', body: { ...call(), method: 'tools/read' } },
    { odd: 'no parameters', body: message({ params: undefined }) },
    { odd: 'parameters that are a list', body: message({ params: [] }) },
    { odd: 'a name that is no text', body: call({ name: 1 }) },
    { odd: 'arguments that are text', body: call({ arguments: '{}' }) },
    { odd: 'arguments that are a list', body: call({ arguments: [] }) },
    { odd: 'an answer to a question', body: call({ inputResponses: {} }) },
    { odd: 'the state of an earlier round', body: call({ requestState: 's' }) },
    { odd: 'a call that asks to be a task', body: call({ task: {} }) },
    { odd: 'no envelope', body: call({ _meta: undefined }) },
    {
      odd: 'the envelope of another revision',
      body: meta({ 'io.modelcontextprotocol/protocolVersion': '2027-01-01' }),
    },
    { odd: 'no capabilities', body: meta({ 'io.modelcontextprotocol/clientCapabilities': undefined }) },
    { odd: 'capabilities of a wrong form', body: meta({ 'io.modelcontextprotocol/clientCapabilities': { roots: 1 } }) },
    { odd: 'a client without a name', body: meta({ 'io.modelcontextprotocol/clientInfo': {} }) },
    { odd: 'a wish for log messages', body: meta({ 'io.modelcontextprotocol/logLevel': 'info' }) },
    { odd: 'a progress token of a wrong form', body: meta({ progressToken: {} }) },
  ])('leaves $odd to the protocol server', ({ body }) => {
    expect(toPlainModernRequest(request(headers), body)).toBeUndefined();
  });
});

describe('toPlainSessionRequest', () => {
  it('reads a call and a list, with or without the revision in a header', () => {
    expect(toPlainSessionRequest(request({ accept }), message())?.call?.name).toBe('t');
    const named = request({ accept, 'mcp-protocol-version': '2025-06-18' });
    expect(toPlainSessionRequest(named, message({ method: 'tools/list', params: undefined }))).toMatchObject({ id: 1 });
  });

  it.each([
    { odd: 'an unknown revision', headers: { accept, 'mcp-protocol-version': '2099-01-01' }, body: message() },
    { odd: 'the newer revision', headers: { accept, 'mcp-protocol-version': '2026-07-28' }, body: message() },
    { odd: 'a client that takes no JSON', headers: { accept: 'text/event-stream' }, body: message() },
    { odd: 'no accept header', headers: {}, body: message() },
    { odd: 'an envelope', headers: { accept }, body: message({ params: { name: 't', _meta: envelope } }) },
    { odd: 'a cursor', headers: { accept }, body: message({ method: 'tools/list', params: { cursor: 'c' } }) },
  ])('leaves $odd to the protocol server', ({ headers, body }) => {
    expect(toPlainSessionRequest(request(headers), body)).toBeUndefined();
  });
});
