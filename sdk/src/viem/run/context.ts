import type { Clients } from "../clients.ts";
import type { Plan, Step } from "../plan/plan.ts";

export type RunOptions = {
  /**
   * Called at each change of a step, with the whole plan as it then is; the run waits for it. Who stores the plan here
   * can go on with it after a crash at any moment.
   */
  readonly onStep?: (step: Step, plan: Plan) => void | Promise<void>;
  readonly signal?: AbortSignal;
  /** For a transaction to be mined; default: 3 min. */
  readonly mineTimeoutMs?: number;
};

/** One run of a plan. */
export type Run = Clients & {
  readonly plan: Plan;
  readonly options: RunOptions;
  /** Changes the step that is carried out, and tells it. */
  store(change: () => void): Promise<void>;
};
