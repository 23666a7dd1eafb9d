/** The key of `_meta` by which a notice says to which `subscriptions/listen` it belongs (MCP 2026-07-28, "Subscriptions"). */
export const subscriptionIdKey = 'io.modelcontextprotocol/subscriptionId';
