import { type Listening, listen } from "../http/server.ts";
import { createOperatorApp, type OperatorAppOptions } from "./operator-app.ts";

/** Adds the operator's listener, on loopback, to the public one: both close together. */
export async function listenForOperators(
  main: Listening,
  port: number,
  options: OperatorAppOptions,
): Promise<Listening> {
  try {
    const operators = await listen(createOperatorApp(options), "127.0.0.1", port);
    return {
      port: main.port,
      close: async () => void (await Promise.all([main.close(), operators.close()])),
    };
  } catch (error) {
    await main.close();
    throw error;
  }
}
