import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below the ports that systems give to outgoing connections (32,768 and up), above those of well-known servers. */
const [lowest, highest] = [15_000, 32_767];
const attempts = 200;

/**
 * A port of `host` that nothing listens on: the preferred one, or any where that is taken. No outgoing connection takes
 * it by chance before its owner binds it, or while its owner restarts.
 */
export async function findFreePort(host = "127.0.0.1", preferred = 0): Promise<number> {
  if (preferred > 0 && preferred <= 65_535 && (await isFree(host, preferred))) return preferred;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const port = randomInt(lowest, highest + 1);
    if (await isFree(host, port)) return port;
  }
  throw new Error(`No free port on ${host} between ${lowest} and ${highest}`);
}

async function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer();
  const isListening = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(port, host, () => resolve(true));
  });
  await new Promise((resolve) => server.close(resolve));
  return isListening;
}
