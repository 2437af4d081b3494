import { createServer } from "node:net";

/** A port that is free at the moment: the preferred one, or any where that is taken. */
export async function findFreePort(host: string, preferred = 0): Promise<number> {
  const isPort = preferred > 0 && preferred <= 65_535;
  const port = (isPort ? await tryPort(host, preferred) : null) ?? (await tryPort(host, 0));
  if (port === null) throw new Error(`no free port on ${host}`);
  return port;
}

async function tryPort(host: string, port: number): Promise<number | null> {
  const server = createServer();
  const found = await new Promise<number | null>((resolve) => {
    server.once("error", () => resolve(null));
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : null);
    });
  });
  await new Promise((resolve) => server.close(resolve));
  return found;
}
