/** An engine made of a template of the user (`engines:` of providers.yaml). */
import type { EngineTemplate } from "../config/types.ts";
import { AGENT_WINDOW, hasModels } from "./table.ts";
import type { Engine } from "./types.ts";

/** Where a template that names no path is asked. */
const READY_PATH = "/v1/models";

/**
 * The engine of a template: its words are what is run, without any check of flags. What answers on its port counts as
 * it only while nothing else is recognized there.
 */
export function ownEngine(id: string, template: EngineTemplate): Engine {
  const [program = "", ...words] = template.command;
  const texts = [...template.command, ...Object.values(template.env ?? {})];
  const uses = (name: string) => texts.some((text) => text.includes(`{${name}}`));
  const path = template.ready ?? READY_PATH;
  return {
    id,
    product: program,
    port: template.port ?? null,
    servers: [],
    model: { required: uses("model"), takes: "path or id" },
    ...(uses("context_window") ? { contextWindow: AGENT_WINDOW } : {}),
    running: { kind: "child", commands: [{ programs: [program], words, options: [], help: [] }] },
    environment: template.env ?? {},
    ready: {
      path,
      proves: ({ status, json }) => status === 200 && (template.ready !== undefined || hasModels(json)),
    },
    install: {
      linux: "install it, or name its absolute path in `command`",
      darwin: "install it, or name its absolute path in `command`",
      windows: "install it, or name its absolute path in `command`",
    },
    notes: [
      uses("host")
        ? "A template of yours."
        : "A template of yours. It has no {host}: make sure that it listens on 127.0.0.1 alone.",
    ],
    own: true,
  };
}
