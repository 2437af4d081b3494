import { IncomingMessage, type ServerOptions, ServerResponse } from "node:http";
import type { Express } from "express";

/**
 * Makes a server's requests and responses with the prototypes that Express would set on each of them. Setting it later
 * costs V8 a hidden class for every request, and each of these keeps its request with all that hangs on it until a full
 * garbage collection.
 */
export function expressClasses(
  app: Express,
): Pick<ServerOptions, "IncomingMessage" | "ServerResponse"> {
  return {
    IncomingMessage: withPrototype(IncomingMessage, app.request),
    ServerResponse: withPrototype(ServerResponse, app.response),
  };
}

/** A class without members of its own, whose instances have `prototype`, which inherits from that of `base`. */
function withPrototype<Base>(base: Base, prototype: object): Base {
  function made(...given: unknown[]): object {
    return Reflect.construct(base as NewableFunction & Base, given, made);
  }
  made.prototype = prototype;
  return made as Base;
}
