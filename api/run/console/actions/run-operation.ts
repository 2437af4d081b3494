import process from "node:process";
import { type Operation, OperationEnded } from "./operation.ts";

type OperationOutcome = { code: number | null; output: string };

/** Has the supervisor run an operator command. Resolves at its end. */
export type RunOperation = (id: string, operation: Operation) => Promise<OperationOutcome>;

/** Null where no supervisor started this process. */
export function openOperationRunner(): RunOperation | null {
  const send = process.send?.bind(process);
  if (send === undefined) return null;
  const waiting = new Map<string, (outcome: OperationOutcome) => void>();
  process.on("message", (message) => {
    const parsed = OperationEnded.safeParse(message);
    if (!parsed.success) return;
    const { id, code, output } = parsed.data.ended;
    waiting.get(id)?.({ code, output });
    waiting.delete(id);
  });
  return (id, operation) =>
    new Promise((resolve) => {
      waiting.set(id, resolve);
      send({ operation: { id, run: operation } });
    });
}
