/**
 * One announced tool call, as `begin` reads it. Other fields of the object are ignored, so an Anthropic `tool_use` block
 * may be passed as it is. OpenAI calls must be mapped: Responses `call_id` (not `id`) and `name`; Chat Completions `id`
 * and `function.name`.
 */
export interface ToolCall {
  /** The call id the provider chose: not blank, well-formed Unicode, at most `maxIdBytes` bytes, unique in its batch. Echoed exactly. */
  readonly id: string;
  /** The tool's name: not blank, well-formed Unicode, at most `maxNameBytes` bytes. */
  readonly name: string;
}

/**
 * Limits of a closure. Each is a safe integer of at least 1; absent, `undefined` or `null` means the default. Every bound is inclusive.
 */
export interface ToolCallClosureOptions {
  /** Calls in one batch (a count). Default 1000. More: `begin` throws a `RangeError`. */
  readonly maxCalls?: number | null | undefined;
  /** Diagnostics kept per generation (a count); the oldest are kept. Default 100. Further ones are counted in `droppedDiagnostics`. */
  readonly maxDiagnostics?: number | null | undefined;
  /** UTF-8 bytes of the text of one success result. Default 1048576. More: `RangeError`, and the call stays pending. */
  readonly maxResultBytes?: number | null | undefined;
  /** UTF-8 bytes of one message. Default 4096. Longer messages are truncated, never refused. */
  readonly maxMessageBytes?: number | null | undefined;
  /** UTF-8 bytes of a call id. Default 512. More: `RangeError`. */
  readonly maxIdBytes?: number | null | undefined;
  /** UTF-8 bytes of a tool name. Default 512. More: `RangeError`. */
  readonly maxNameBytes?: number | null | undefined;
  /** UTF-8 bytes of a code given by the caller; built-in codes are exempt. Default 128. More: `RangeError`. */
  readonly maxCodeBytes?: number | null | undefined;
}

/** The part of an `AbortSignal` that `begin` uses. Structural, so that no DOM or Node types are needed. */
export interface AbortSignalLike {
  /** Whether the signal has aborted already. */
  readonly aborted: boolean;
  /** Becomes the close reason of the batch. */
  readonly reason?: unknown;
  /** Called once by `begin`, with `'abort'`. */
  addEventListener(type: 'abort', listener: () => void): void;
  /** Called once, with the same arguments, when the batch closes or if `begin` throws. */
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** Options of `begin`. */
export interface BeginOptions {
  /** When it aborts, the batch closes, and the signal's reason is the close reason. Absent, `undefined` or `null`: no signal. */
  readonly signal?: AbortSignalLike | null | undefined;
}

declare const handleBrand: unique symbol;

/**
 * The key to one batch: frozen, made by `begin`, recognised by identity. A copy with the same number opens nothing.
 */
export interface BatchHandle {
  /** The number of the batch: 1, 2, 3 … */
  readonly generation: number;
  /** Exists in the type only, so that an object literal does not pass for a handle. */
  readonly [handleBrand]: true;
}

/** What `begin` returns (frozen). */
export interface BeginResult {
  /** The number of the new batch. */
  readonly generation: number;
  /** The key that every operation on this batch needs. */
  readonly handle: BatchHandle;
  /** The previous batch as it was closed by this `begin`, or `null` if none was open. */
  readonly superseded: ClosedSnapshot | null;
}

/**
 * What is known of a call's side effects: `not_started` (none happened), `completed` (they happened, the result was
 * lost), `unknown` (they may or may not have happened). The model reads it as `side_effect_state`.
 */
export type SideEffectState = 'unknown' | 'not_started' | 'completed';

/** How a call ended. */
export type OutcomeStatus = 'success' | 'error' | 'cancelled';

/** What the host reports for one call; read by `settle`. */
export type Outcome =
  | {
      /** The tool completed. */
      readonly status: 'success';
      /** A string is itself; anything else is stored as its JSON text. At most `maxResultBytes` bytes. */
      readonly content: unknown;
      readonly code?: undefined;
      readonly message?: undefined;
      readonly sideEffectState?: undefined;
    }
  | {
      /** The tool failed, or did not complete. */
      readonly status: 'error' | 'cancelled';
      /** A short machine-readable reason, at most `maxCodeBytes` bytes. Default: the status. */
      readonly code?: string | null | undefined;
      /**
       * Text for the model: a string, or any value that has a message text (an Error gives its `message`). Truncated to
       * `maxMessageBytes` bytes. Default: `Tool call failed.` or `Tool call was cancelled.`
       */
      readonly message?: unknown;
      /** What is known of side effects. Default: nothing is said. */
      readonly sideEffectState?: SideEffectState | null | undefined;
      readonly content?: undefined;
    };

/** The frozen record of a success. */
export interface SuccessSettlement {
  /** The tool completed. */
  readonly status: 'success';
  /** The text that the model will read, at most `maxResultBytes` bytes; a string is made well-formed, JSON text is so by itself. */
  readonly content: string;
  /** A success is always the host's report. */
  readonly provenance: 'reported';
}

/** The frozen record of an error or a cancellation that the host reported. */
export interface ReportedFailure<Status extends 'error' | 'cancelled' = 'error' | 'cancelled'> {
  /** Whether the tool failed or was cancelled. */
  readonly status: Status;
  /** The short machine-readable reason; the model reads it. */
  readonly code: string;
  /** The text for the model, well-formed Unicode of at most `maxMessageBytes` bytes. */
  readonly message: string;
  /** The host reported it. */
  readonly provenance: 'reported';
  /** What the host said of side effects. Present only where the outcome named a state. */
  readonly sideEffectState?: SideEffectState;
}

/** The frozen record that closing a batch gives to each call that was still pending. */
export interface SyntheticSettlement<Status extends 'error' | 'cancelled' = 'error' | 'cancelled'> {
  /** The close reason's status. */
  readonly status: Status;
  /** The close reason's code, `superseded` where a newer batch began; the model reads it. */
  readonly code: string;
  /** The close reason's message, for the model. */
  readonly message: string;
  /** Nobody reported it: closing the batch made it. */
  readonly provenance: 'synthetic';
  /** The close reason's state; it never says that effects happened. */
  readonly sideEffectState: 'unknown' | 'not_started';
}

/** The frozen record of an error. */
export type ErrorSettlement = ReportedFailure<'error'> | SyntheticSettlement<'error'>;

/** The frozen record of a cancellation. */
export type CancelledSettlement = ReportedFailure<'cancelled'> | SyntheticSettlement<'cancelled'>;

/** What the host reported for one call, as stored. */
export type ReportedSettlement = SuccessSettlement | ReportedFailure<'error'> | ReportedFailure<'cancelled'>;

/** The frozen terminal record of one call: reported by the host, or synthetic. */
export type Settlement = SuccessSettlement | ErrorSettlement | CancelledSettlement;

/** A call that has its settlement; `state` equals the settlement's `status`. */
export type SettledCall = {
  [State in OutcomeStatus]: {
    /** The call id, as announced. */
    readonly id: string;
    /** The tool's name, as announced. */
    readonly name: string;
    /** How the call ended: its settlement's `status`. */
    readonly state: State;
    /** The terminal record of the call. */
    readonly settlement: Extract<Settlement, { readonly status: State }>;
  };
}[OutcomeStatus];

/** A call that still waits for its settlement. */
export interface PendingCall {
  /** The call id, as announced. */
  readonly id: string;
  /** The tool's name, as announced. */
  readonly name: string;
  /** No settlement yet. */
  readonly state: 'pending';
  /** Filled by `settle`, `succeed`, `fail`, `cancel` or `track`, or when the batch closes. */
  readonly settlement: null;
}

/** One call of a snapshot (frozen): `state` tells which settlement it has. */
export type CallSnapshot = PendingCall | SettledCall;

/** Why a batch was closed other than by sealing: by `close`, by its signal or by a newer batch. */
export interface UnfinishedReason {
  /** The status that pending calls were given. */
  readonly status: 'error' | 'cancelled';
  /** The code that pending calls were given. */
  readonly code: string;
  /** The message that pending calls were given. */
  readonly message: string;
  /** What is known of the side effects of the calls that were pending. */
  readonly sideEffectState: 'unknown' | 'not_started';
}

/** Why a batch was closed; it is no summary of the calls. `complete` means sealed. */
export type CloseReason =
  | {
      /** Sealed: the host had reported every call. */
      readonly status: 'complete';
    }
  | UnfinishedReason;

/**
 * What `close` accepts as a reason: nothing (all defaults), a message, an Error of any realm (its `message`, its `code` if
 * that is a valid label, otherwise `timeout` or `aborted` by its name), or an object with any of the fields below.
 */
export type CloseReasonInput =
  | string
  | Error
  | {
      /** Default `cancelled`. */
      readonly status?: 'error' | 'cancelled' | null | undefined;
      /** At most `maxCodeBytes` bytes. Default: the status. */
      readonly code?: string | null | undefined;
      /** Any value that has a message text; truncated to `maxMessageBytes` bytes. Default: `Tool call did not complete.` or `Tool call was cancelled.` */
      readonly message?: unknown;
      /** Default `unknown`. */
      readonly sideEffectState?: 'unknown' | 'not_started' | null | undefined;
    }
  | null
  | undefined;

/**
 * Why an operation was refused. `stale_generation`: the handle is not the newest batch's. `run_closed`: the batch is
 * closed or sealed. `unknown_call`: the id was not announced. `duplicate_settlement`: the call has its settlement.
 * `pending_calls`: `seal` only; a call still waits.
 */
export type RefusalReason = 'stale_generation' | 'run_closed' | 'unknown_call' | 'duplicate_settlement' | 'pending_calls';

/** The record of one refused operation (frozen). */
export interface Diagnostic<Reason extends RefusalReason = RefusalReason> {
  /** Why; see `RefusalReason`. */
  readonly reason: Reason;
  /** The call id of the refused settlement; `null` for `close`, `seal` and `sealWhenSettled`. */
  readonly callId: string | null;
  /** The generation that the handle claimed, or `null` if that was no positive safe integer. */
  readonly generation: number | null;
  /** The status of the refused outcome, `invalid` if it was none of the three, `null` if there was none. */
  readonly observedStatus: OutcomeStatus | 'invalid' | null;
}

/** A refused operation, as returned (frozen): a diagnostic with `accepted: false` in front. */
export interface OperationRejection<Reason extends RefusalReason = RefusalReason> extends Diagnostic<Reason> {
  /** Nothing was changed. */
  readonly accepted: false;
}

/** An accepted settlement, as returned (frozen). */
export interface AcceptedSettlement {
  /** The call has its settlement now, for good. */
  readonly accepted: true;
  /** The number of the call's batch. */
  readonly generation: number;
  /** The call's id. */
  readonly callId: string;
  /** What was stored: the same object as in every later snapshot. */
  readonly settlement: ReportedSettlement;
}

/** What `settle` and its shorthands return. */
export type SettlementResult = AcceptedSettlement | OperationRejection<Exclude<RefusalReason, 'pending_calls'>>;

/** A batch that still takes settlements, as it was when the snapshot was taken (deeply frozen). */
export interface OpenSnapshot {
  /** Exists in the type only, so that `if (result.accepted === false)` tells a refusal from a snapshot. */
  readonly accepted?: undefined;
  /** The number of the batch. */
  readonly generation: number;
  /** The batch takes settlements. */
  readonly closed: false;
  /** None while the batch is open. */
  readonly closeReason: null;
  /** Every call of the batch, in announcement order. */
  readonly calls: readonly CallSnapshot[];
  /** The first `maxDiagnostics` refusals since the batch began, oldest first. */
  readonly diagnostics: readonly Diagnostic[];
}

/** A closed or sealed batch (deeply frozen): every call has its settlement. The adapters take no other. */
export interface ClosedSnapshot {
  /** Exists in the type only, so that `if (result.accepted === false)` tells a refusal from a snapshot. */
  readonly accepted?: undefined;
  /** The number of the batch. */
  readonly generation: number;
  /** The batch takes no more settlements. */
  readonly closed: true;
  /** Why it was closed; no summary of the calls. */
  readonly closeReason: CloseReason;
  /** Every call of the batch, in announcement order. */
  readonly calls: readonly SettledCall[];
  /** The first `maxDiagnostics` refusals since the batch began, oldest first. */
  readonly diagnostics: readonly Diagnostic[];
}

/** A deeply frozen view of the newest batch; `closed` tells the two kinds apart. */
export type Snapshot = OpenSnapshot | ClosedSnapshot;

/**
 * A tool message of the OpenAI Chat Completions API (there `ChatCompletionToolMessageParam`), for `messages`, directly
 * after the assistant message that holds the calls.
 */
export type OpenAIToolMessage = {
  /** What makes it a tool message. */
  role: 'tool';
  /** The call's id, as announced. */
  tool_call_id: string;
  /** The success text, or the JSON text of the error; never empty for an error. */
  content: string;
};

/** A function call's result of the OpenAI Responses API (there `ResponseInputItem.FunctionCallOutput`), for `input`. */
export type OpenAIFunctionCallOutput = {
  /** What makes it a function call's output. */
  type: 'function_call_output';
  /** The call's id, as announced: the item's `call_id`, not its `id`. */
  call_id: string;
  /** The success text, or the JSON text of the error; never empty for an error. */
  output: string;
};

/**
 * A tool result of the Anthropic Messages API (there `ToolResultBlockParam`), for the `content` of the next user message,
 * before any text. `is_error` is absent on success.
 */
export type AnthropicToolResult = {
  /** What makes it a tool result. */
  type: 'tool_result';
  /** The call's id, as announced. */
  tool_use_id: string;
  /** The success text, or the JSON text of the error; never empty for an error. */
  content: string;
  /** `true` for errors and cancellations; absent on success. */
  is_error?: true;
};
