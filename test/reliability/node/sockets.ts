import type { Server } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";
import { type Block, wireHeader } from "../chain/block.ts";
import type { RpcCall, ServedAnswer } from "./answers.ts";
import type { FaultyNode } from "./node-state.ts";

type Answer = (calls: readonly RpcCall[]) => { answers: ServedAnswer[] };

/** Websockets of a node: they answer every call and announce heads to those who subscribed. */
export function openSockets(server: Server, node: FaultyNode, answer: Answer) {
  const sockets = new WebSocketServer({ noServer: true });
  const subscriptions = new Map<WebSocket, string>();
  const announce = (block: Block) => {
    if (node.faults.socket !== "well") return;
    for (const [socket, subscription] of subscriptions) {
      const params = { subscription, result: wireHeader(block) };
      socket.send(JSON.stringify({ jsonrpc: "2.0", method: "eth_subscription", params }));
    }
  };
  server.on("upgrade", (request, connection, head) => {
    if (node.faults.socket === "refused") {
      connection.end("HTTP/1.1 503 Service Unavailable\r\n\r\n");
      return;
    }
    sockets.handleUpgrade(request, connection, head, (socket) => {
      socket.on("close", () => subscriptions.delete(socket));
      socket.on("error", () => {});
      socket.on("message", (data) => receive(socket, JSON.parse(`${data}`) as RpcCall | RpcCall[]));
    });
  });
  const receive = (socket: WebSocket, body: RpcCall | RpcCall[]) => {
    if (node.faults.socket === "dead") return;
    const calls = [body].flat();
    const [first] = calls;
    if (first?.method === "eth_subscribe") {
      const subscription = `0x${(subscriptions.size + 1).toString(16).padStart(32, "0")}`;
      subscriptions.set(socket, subscription);
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: first.id, result: subscription }));
      return;
    }
    const { answers } = answer(calls);
    socket.send(JSON.stringify(Array.isArray(body) ? answers : answers[0]));
  };
  const watching = watchChain(node, announce);
  return {
    cut() {
      for (const socket of sockets.clients) socket.terminate();
    },
    close() {
      watching.end();
      for (const socket of sockets.clients) socket.terminate();
    },
  };
}

/** Follows the node's chain, also when another one takes its place. */
function watchChain(node: FaultyNode, announce: (block: Block) => void) {
  let { chain } = node;
  let end = chain.onHead(announce);
  const timer = setInterval(() => {
    if (node.chain === chain) return;
    end();
    chain = node.chain;
    end = chain.onHead(announce);
  }, 100);
  timer.unref();
  return {
    end() {
      clearInterval(timer);
      end();
    },
  };
}
