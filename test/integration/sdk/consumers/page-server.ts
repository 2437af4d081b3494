import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, normalize } from "node:path";
import { build } from "esbuild";
import { pagePolicy } from "#api/http/security.ts";
import { type PackedClient, root } from "./packed-client.ts";

export type PageServer = { url: string; close(): Promise<void> };

const imports = {
  "order-book": "/order-book/index.js",
  "order-book/viem": "/order-book/viem/index.js",
  viem: "/viem/index.js",
  "viem/chains": "/viem/chains.js",
};
const importMap = JSON.stringify({ imports });
const html = `<!doctype html><html lang="en"><title>A shop</title><script type="importmap">${importMap}</script></html>`;

/**
 * A page under the content security policy of our own pages, which lets only files of this host run, and may connect to
 * the API and the node. The client's files are served as they are packed; viem, which the client's callers bundle, is one
 * bundle.
 */
export async function servePages(
  { directory }: PackedClient,
  connected: readonly string[],
): Promise<PageServer> {
  const bundle = await bundleViem();
  const hash = createHash("sha256").update(importMap).digest("base64");
  const { directives } = pagePolicy({
    // The map of imports, which no file can hold, is the only script in the page.
    "script-src": ["'self'", `'sha256-${hash}'`],
    "connect-src": connected,
    "form-action": ["'none'"],
  });
  const policy = Object.entries(directives)
    .map(([name, sources]) => [name, ...sources].join(" "))
    .join("; ");
  const folders: Record<string, string> = {
    "/order-book/": join(directory, "node_modules/order-book/dist"),
    "/recipes/": join(directory, "browser"),
  };
  const fileOf = async (path: string): Promise<Buffer | Uint8Array | undefined> => {
    const bundled = bundle.get(path);
    if (bundled !== undefined) return bundled;
    const [prefix] = Object.keys(folders).filter((one) => path.startsWith(one));
    if (prefix === undefined) return undefined;
    return readFile(join(folders[prefix] ?? "", normalize(path.slice(prefix.length))));
  };
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://page");
    if (pathname === "/") {
      response.setHeader("Content-Security-Policy", policy);
      response.setHeader("Content-Type", "text/html; charset=utf-8").end(html);
      return;
    }
    const file = await fileOf(pathname).catch(() => undefined);
    response.statusCode = file === undefined ? 404 : 200;
    response.setHeader("Content-Type", "text/javascript; charset=utf-8").end(file ?? "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bundleViem(): Promise<Map<string, Uint8Array>> {
  const { outputFiles } = await build({
    ...{ entryPoints: { index: "viem", chains: "viem/chains" }, absWorkingDir: root },
    ...{ bundle: true, splitting: true, format: "esm", platform: "browser", target: "es2022" },
    ...{ outdir: "/viem", write: false, minify: true, logLevel: "error" },
  });
  return new Map(outputFiles.map(({ path, contents }) => [path, contents]));
}
