// Calls that are going on. A call belongs to a tool and a caller: it goes on while a list that comes later, a saved file
// or another tab draws the tool anew. It ends when the tool is left, or another caller is chosen.
(() => {
  "use strict";
  const { state, on, emit } = stile;
  const going = new Map(); // by view, endpoint and tool

  const PERSON = "Cancelled.";
  const CHANGED = "Cancelled, because the tool was left here, or another caller chosen.";
  const CARRIED_OUT = "The server may have carried the call out all the same.";

  const keyOf = (view, tool) => `${view} ${state.endpoint} ${tool.key}`;

  /** Return the call of a view that is going on: `{done, cancel()}`, or undefined. */
  const find = (view, tool) => going.get(keyOf(view, tool));

  /** Start a call. `work(signal, job)` returns the answer, and gives `job` each status of a job that the call starts.
   * `done` is the outcome, with `answer` or `failure`, and never fails. */
  function start(view, tool, { args, work }) {
    const key = keyOf(view, tool);
    const controller = new AbortController();
    const outcome = { tool, endpoint: state.endpoint, persona: state.persona, args, at: new Date() };
    const run = {
      endpoint: state.endpoint, key: tool.key, persona: state.persona?.id, outcome,
      cancel: (reason = PERSON) => controller.abort(reason),
      done: finish(outcome, work, controller.signal).finally(() => going.delete(key)),
    };
    going.set(key, run);
    return run;
  }

  async function finish(outcome, work, signal) {
    try {
      outcome.answer = await work(signal, (task) => emit("job", Object.assign(outcome, { task })));
    } catch (error) {
      const { taskId } = outcome.task ?? {};
      const ended = taskId ? `The job goes on: its taskId is ${taskId}` : `${signal.reason} ${CARRIED_OUT}`;
      outcome.failure = signal.aborted ? ended : `No answer: ${error.message}. Is the server running?`;
    }
    return outcome;
  }

  const goesOn = ({ endpoint, key, persona }) => endpoint === state.endpoint && key === state.tool?.key && persona === state.persona?.id;

  on("tool", () => {
    for (const run of going.values()) if (!goesOn(run)) run.cancel(CHANGED);
  });

  stile.runs = Object.freeze({ find, start });
})();
