import { z } from "zod";
import { onOff, setting, wholeNumber } from "./setting.ts";

const portExpectation = "a port number, 1 to 65535, other than PORT";

/** The operator's console and metrics. */
export const operatorSettings = {
  OPERATOR_CONSOLE: setting(onOff.default(true), {
    meaning: "whether the operator's console runs",
    expectation: "on or off",
    example: "off",
    fallback: "on",
  }),
  OPERATOR_PORT: setting(wholeNumber(1, 65_535).optional(), {
    meaning:
      "port of the operator's console, with `/metrics` and a `/readyz` that names nodes; `/metrics` is then not on PORT",
    expectation: portExpectation,
    example: "4001",
    fallback:
      "the console: PORT + 1, or a free one; `/metrics` on PORT where HOST is loopback, else nowhere but on METRICS_PORT",
  }),
  OPERATOR_HOST: setting(z.string().min(1).default("127.0.0.1"), {
    meaning:
      "address the operator's console listens on; beyond loopback OPERATOR_PASSWORD is required",
    expectation: "a host name or IP address",
    example: "0.0.0.0",
  }),
  OPERATOR_PASSWORD: setting(z.string().min(12).optional(), {
    meaning: "password of the operator's console; the name that goes with it is the operator's own",
    expectation: "at least 12 characters",
    example: "a-long-random-password",
    fallback: "none: whoever is on this machine may use it",
    secret: true,
  }),
  METRICS_PORT: setting(wholeNumber(1, 65_535).optional(), {
    meaning:
      "port on METRICS_HOST where the API serves `/metrics`, from where the console passes it on; needed where API and console are started apart with one OPERATOR_PORT",
    expectation: portExpectation,
    example: "4002",
    fallback:
      "`npm start`: a free one if OPERATOR_PORT is set or HOST is not loopback; an API that runs alone: OPERATOR_PORT; without one on PORT, where HOST is loopback",
  }),
  METRICS_HOST: setting(z.string().min(1).default("127.0.0.1"), {
    meaning:
      "address that METRICS_PORT listens on; beyond loopback, as in a container, whoever reaches the port may read the metrics",
    expectation: "a host name or IP address",
    example: "0.0.0.0",
  }),
};
