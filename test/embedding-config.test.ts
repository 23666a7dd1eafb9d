import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from 'vitest';
import type { GantryFolder } from './fixtures/gantry-process.ts';
import { makeGantryFolder } from './fixtures/gantry-process.ts';
import type { LoopbackServer } from './fixtures/listen-on-loopback.ts';
import { listenOnLoopback } from './fixtures/listen-on-loopback.ts';
import { startRawServer, toolNamed } from './fixtures/raw-server.ts';

const open = new AsyncDisposableStack();
afterEach(() => open.disposeAsync());

interface Embedder extends LoopbackServer {
  readonly asked: { readonly model: string; readonly input: readonly string[] }[];
  readonly keys: (string | undefined)[];
}

/** Speaks the embeddings interface: texts about sending have one direction, all others another. */
const startEmbedder = async (): Promise<Embedder> => {
  const asked: Embedder['asked'] = [];
  const keys: Embedder['keys'] = [];
  const server = await listenOnLoopback((request, response) => {
    const answer = async (): Promise<void> => {
      const body = JSON.parse(await text(request)) as Embedder['asked'][number];
      asked.push(body);
      keys.push(request.headers.authorization);
      const data = body.input.map((input, index) => ({
        object: 'embedding',
        index,
        embedding: /dispatch|parcel|post/i.test(input) ? [1, 0.1, 0] : [0, 0.1, 1],
      }));
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ object: 'list', model: body.model, data, usage: { prompt_tokens: 1, total_tokens: 1 } }),
      );
    };
    void answer();
  });
  return { ...server, asked, keys };
};

it('a gateway finds tools by meaning with the embedding model of its configuration', async () => {
  const embedder = open.use(await startEmbedder());
  const server = open.use(
    await startRawServer({
      'tools/list': () => ({
        tools: [
          { ...toolNamed('dispatch_shipment'), description: 'Hands a box over to the carrier.' },
          { ...toolNamed('list_orders'), description: 'Lists orders.' },
        ],
      }),
    }),
  );
  const folder: GantryFolder = open.use(makeGantryFolder());
  const endpoint = embedder.url.replace(/\/mcp$/, '/v1');
  folder.write('gantry.config.json', {
    models: { embedding: { endpoint, modelId: 'nomic-embed-text', apiKey: 'k-1' } },
  });
  folder.write('mcp.json', { mcpServers: { shop: { url: server.url } } });
  const gateway = open.use(await folder.serve());
  const find = async (): Promise<string> => {
    const response = await fetch(`${gateway.url}/api/v1/find-tools?query=parcel%20post`);
    return await response.text();
  };
  await expect.poll(find).toContain('shop__dispatch_shipment');
  expect(embedder.asked[0]).toMatchObject({ model: 'nomic-embed-text' });
  expect(new Set(embedder.keys)).toEqual(new Set(['Bearer k-1']));
  expect(embedder.asked.flatMap(({ input }) => input).some((input) => input.includes('Hands a box'))).toBe(true);
});
