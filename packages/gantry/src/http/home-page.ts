/** The page at `/`: says what runs here and how to connect. `url` is the address as the visitor wrote it. */
export const homePage = (url: string, version: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Gantry</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 3rem auto; padding: 0 1rem; color-scheme: light dark }
code, pre { font: 14px/1.5 ui-monospace, monospace } pre { overflow-x: auto; padding: 1rem; border: 1px solid #8886 }
</style>
</head>
<body>
<h1>Gantry ${escapeHtml(version)}</h1>
<p>The gateway runs. Its tools, and those of every server in <code>mcp.json</code>, are behind one MCP address:</p>
<pre>${escapeHtml(url)}/mcp</pre>
<h2>Connect a client</h2>
<p>Any client of the Model Context Protocol that speaks Streamable HTTP takes the address as it is. In most settings files:</p>
<pre>{ "mcpServers": { "gantry": { "type": "http", "url": "${escapeHtml(url)}/mcp" } } }</pre>
<p>Clients that start programs instead run <code>gantry mcp</code>.</p>
<h2>More</h2>
<ul>
<li><a href="/api/v1/openapi.json">HTTP API</a></li>
<li><a href="/readyz">Readiness</a>, <a href="/healthz">liveness</a>, <a href="/metrics">metrics</a></li>
</ul>
</body>
</html>
`;

const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
