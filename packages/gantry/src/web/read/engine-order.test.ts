import { describe, expect, it } from 'vitest';
import { silentLog } from '../../kernel/log.ts';
import { parseEngineOrder } from './engine-order.ts';

describe('parseEngineOrder', () => {
  it.each([
    ['', true, ['safe_http']],
    ['mcp_fetch', false, ['safe_http']],
    ['crawl4ai,safe_http', false, ['safe_http']],
    ['crawl4ai,safe_http', true, ['crawl4ai', 'safe_http']],
    [' safe_http , CRAWL4AI, crawl4ai', true, ['crawl4ai', 'safe_http']],
    ['nonsense', true, ['safe_http']],
  ])('reads %j where private networks are open: %s', (text, privateNetworksOpen, order) => {
    expect(parseEngineOrder(text, { privateNetworksOpen, log: silentLog })).toEqual(order);
  });

  it('warns of unknown engines and of one that is not admitted, not of the older name', () => {
    const warnings: unknown[] = [];
    const log = { ...silentLog, warn: (facts: unknown) => void warnings.push(facts) };
    parseEngineOrder('mcp_fetch,crawl4ai,other', { privateNetworksOpen: false, log });
    expect(warnings).toEqual([{ engine: 'crawl4ai' }, { engine: 'other' }]);
  });
});
