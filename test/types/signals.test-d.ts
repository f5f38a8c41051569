// The signals that a platform declares, the DOM's or Node's, pass without a cast. Compiled only where one of them is declared.
import { type AbortSignalLike, createToolCallClosure } from 'tool-call-closure';

const controller = new AbortController();
const closure = createToolCallClosure();
export const like: AbortSignalLike = controller.signal;
closure.begin([], { signal: controller.signal });
closure.begin([], { signal: AbortSignal.timeout(1000) });
closure.begin([], { signal: undefined as AbortSignal | undefined });
closure.begin([], { signal: null as AbortSignal | null });

// @ts-expect-error a controller is no signal
closure.begin([], { signal: controller });
// @ts-expect-error the signal goes into an object
closure.begin([], controller.signal);
// @ts-expect-error a target without `aborted` is no signal
closure.begin([], { signal: new EventTarget() });
