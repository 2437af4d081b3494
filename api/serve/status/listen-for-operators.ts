import { type Listening, listen } from "#api/http/server.ts";
import { createOperatorApp, type OperatorAppOptions } from "./operator-app.ts";

/** Adds the operator's listener to the public one: both close together. */
export async function listenForOperators(
  main: Listening,
  place: { readonly host: string; readonly port: number },
  options: OperatorAppOptions,
): Promise<Listening> {
  try {
    const operators = await listen(createOperatorApp(options), place.host, place.port);
    return {
      port: main.port,
      close: async () => void (await Promise.all([main.close(), operators.close()])),
    };
  } catch (error) {
    await main.close();
    throw error;
  }
}
