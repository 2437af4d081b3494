import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Stands before a server and can stop passing anything on without closing a connection, as a network that is gone. */
export type SilentProxy = {
  /** The server's address, by way of the proxy. */
  url: string;
  silence(): void;
  close(): Promise<void>;
};

export async function startSilentProxy(url: string): Promise<SilentProxy> {
  const { hostname: host, port } = new URL(url);
  const sockets = new Set<Socket>();
  let isSilent = false;
  const add = (socket: Socket, onData: (data: Buffer) => void, onEnd: () => void) => {
    sockets.add(socket);
    socket.on("data", (data) => void (isSilent || onData(data)));
    socket.on("error", () => {});
    socket.on("close", () => isSilent || onEnd());
  };
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ host, port: Number(port), allowHalfOpen: true });
    add(
      near,
      (data) => far.write(data),
      () => far.destroy(),
    );
    add(
      far,
      (data) => near.write(data),
      () => near.destroy(),
    );
    near.on("end", () => isSilent || far.end());
    far.on("end", () => isSilent || near.end());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const through = new URL(url);
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: through.href,
    silence() {
      isSilent = true;
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
