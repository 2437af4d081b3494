import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** A web server on a loopback address whose responses a test sets. */
export async function openDocumentHost() {
  let answer: RequestListener = (_request, response) => response.writeHead(404).end();
  const asked: string[] = [];
  const underWay = new Map<string, number>();
  let mostAtOnce = 0;
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    underWay.set(path, (underWay.get(path) ?? 0) + 1);
    mostAtOnce = Math.max(mostAtOnce, ...underWay.values());
    response.on("close", () => underWay.set(path, (underWay.get(path) ?? 1) - 1));
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    /** Requested paths, in order. */
    asked,
    /** Most concurrent requests of one path. */
    mostAtOnce: () => mostAtOnce,
    answers(next: RequestListener) {
      answer = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type DocumentHost = Awaited<ReturnType<typeof openDocumentHost>>;
