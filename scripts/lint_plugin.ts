/** Lint rules of the house that need the syntax tree. Loaded by `lint.plugins` of deno.json. */

/** Whether the file is part of the program: rules about state and imports hold there alone. */
function isProgram(filename: string): boolean {
  return /[\\/]src[\\/]/.test(filename) && !/_test\.tsx?$/.test(filename);
}

type Parameter = Deno.lint.FunctionDeclaration["params"][number];

/** Types of a third parameter that cannot be an options object. */
const PLAIN_TYPES = new Set([
  "TSStringKeyword",
  "TSNumberKeyword",
  "TSBooleanKeyword",
  "TSBigIntKeyword",
  "TSArrayType",
]);

function isPlain(parameter: Parameter | undefined): boolean {
  if (parameter?.type !== "Identifier") return false;
  const type = parameter.typeAnnotation?.typeAnnotation.type;
  return type !== undefined && PLAIN_TYPES.has(type);
}

function tooMany(parameters: readonly Parameter[]): boolean {
  return parameters.length > 3 || (parameters.length === 3 && isPlain(parameters[2]));
}

const parameters: Deno.lint.Rule = {
  create(context) {
    const check = (node: Deno.lint.FunctionDeclaration | Deno.lint.ArrowFunctionExpression) => {
      if (!tooMany(node.params)) return;
      context.report({ node, message: "At most two positional parameters and an options object." });
    };
    // What a module gives to others; inside of it three plain parameters are still readable, four are not.
    return {
      "ExportNamedDeclaration > FunctionDeclaration": check,
      "ExportNamedDeclaration > VariableDeclaration > VariableDeclarator > ArrowFunctionExpression": check,
      "Program > FunctionDeclaration"(node: Deno.lint.FunctionDeclaration) {
        if (node.params.length > 3) check(node);
      },
    };
  },
};

const moduleState: Deno.lint.Rule = {
  create(context) {
    if (!isProgram(context.filename)) return {};
    const check = (node: Deno.lint.VariableDeclaration) => {
      if (node.kind === "const") return;
      context.report({ node, message: "No state of a module that changes: pass it in." });
    };
    return {
      "Program > VariableDeclaration": check,
      "ExportNamedDeclaration > VariableDeclaration": check,
    };
  },
};

const importWork: Deno.lint.Rule = {
  create(context) {
    if (!isProgram(context.filename)) return {};
    const message = "No work at import: it costs every start.";
    return {
      "Program > ExpressionStatement"(node: Deno.lint.ExpressionStatement) {
        context.report({ node, message });
      },
      "Program > VariableDeclaration > VariableDeclarator > AwaitExpression"(node: Deno.lint.AwaitExpression) {
        context.report({ node, message });
      },
    };
  },
};

const nonNullReason: Deno.lint.Rule = {
  create(context) {
    if (!isProgram(context.filename)) return {};
    const lines = context.sourceCode.text.split("\n");
    return {
      TSNonNullExpression(node) {
        const at = context.sourceCode.text.slice(0, node.range[0]).split("\n").length - 1;
        if ([lines[at - 1], lines[at]].some((line) => line?.includes("//"))) return;
        context.report({ node, message: "A `!` needs its reason in a comment beside or above it." });
      },
    };
  },
};

const slowTimer: Deno.lint.Rule = {
  create(context) {
    // A chat draws many times a second: there a timer that can be canceled is worth its start.
    if (!isProgram(context.filename) || /[\\/]cli[\\/]chat[\\/]/.test(context.filename)) return {};
    const message = "Its first use costs milliseconds of a start: take clock.sleep, or `after` of platform/sleep.ts.";
    return {
      "CallExpression > Identifier[name=/^set(Timeout|Interval)$/]"(node: Deno.lint.Identifier) {
        context.report({ node, message });
      },
    };
  },
};

const localeNumber: Deno.lint.Rule = {
  create(context) {
    if (!isProgram(context.filename)) return {};
    const message = "Its first use costs ten milliseconds: take `grouped` of platform/number.ts.";
    return {
      "MemberExpression > Identifier[name=/^toLocale(Date|Time)?String$/]"(node: Deno.lint.Identifier) {
        context.report({ node, message });
      },
    };
  },
};

const normalizing: Deno.lint.Rule = {
  create(context) {
    if (!isProgram(context.filename) || /[\\/]platform[\\/]text\.ts$/.test(context.filename)) return {};
    const message = "It sorts marks in quadratic time: take `normalized` of platform/text.ts.";
    return {
      "MemberExpression > Identifier[name='normalize']"(node: Deno.lint.Identifier) {
        context.report({ node, message });
      },
    };
  },
};

/** The formatter wraps no comments. One behind code may be longer, and so may one with an address or a directive. */
const commentWidth: Deno.lint.Rule = {
  create(context) {
    const { sourceCode } = context;
    return {
      Program() {
        for (const { range: [start, end] } of sourceCode.getAllComments()) {
          const lineStart = sourceCode.text.lastIndexOf("\n", start) + 1;
          if (sourceCode.text.slice(lineStart, start).trim() !== "") continue;
          const lines = sourceCode.text.slice(lineStart, end).split("\n");
          if (!lines.some((line) => line.length > 120 && !/:\/\/|deno-lint-/.test(line))) continue;
          context.report({ range: [start, end], message: "Comments are wrapped at 120 columns." });
        }
      },
    };
  },
};

const plugin: Deno.lint.Plugin = {
  name: "house",
  rules: {
    "parameters": parameters,
    "module-state": moduleState,
    "import-work": importWork,
    "non-null-reason": nonNullReason,
    "slow-timer": slowTimer,
    "locale-number": localeNumber,
    "normalizing": normalizing,
    "comment-width": commentWidth,
  },
};
export default plugin;
