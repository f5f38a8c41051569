import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readJson } from './raw-body.js';
import { anthropicReply, chatReply, responsesReply, type Reply } from './replies.js';
import { checkAnthropic } from './rules-anthropic.js';
import { checkChat, type ChatProfile } from './rules-chat.js';
import { checkResponses, inputItems } from './rules-responses.js';
import { isObject, misshapen, violation, type Json, type Violation } from './violation.js';

export type { Reply, ScriptedCall } from './replies.js';

/**
 * A loopback stand-in for the three provider APIs. It answers as a scripted model would, and refuses each request that
 * breaks a rule of tool calls and results: status 400, the provider's error envelope, and the rule's id in `x-rule`.
 * The rules and their ids stand in `rules-chat.ts`, `rules-responses.ts` and `rules-anthropic.ts`. It does not stream.
 */
export async function startStandIn({
  script = () => 'done',
  idMax = 40,
  adjacent = false,
  maxBodyBytes = 32 * 1024 * 1024,
}: StandInOptions = {}): Promise<StandIn> {
  const requests: RecordedRequest[] = [];
  const held = new Map<string, readonly Json[]>();
  const turns: Record<Api, number> = { chat: 0, responses: 0, anthropic: 0 };

  /** Judges one request; `reply` is null if it was refused. */
  const judge = (api: Api, request: IncomingMessage, bytes: Uint8Array): { broken: Violation | null; body: unknown; reply: object | null } => {
    const { value: body, fault } = readJson(bytes);
    if (fault !== null) return { broken: violation(unreadable[api], `the body can't be read: ${fault}`), body, reply: null };
    const known = isObject(body) ? held.get(String(body['previous_response_id'])) : undefined;
    const broken =
      checkEnvelope(api, request, body, known) ??
      (api === 'chat'
        ? checkChat(body, { idMax })
        : api === 'responses'
          ? checkResponses(body, { held: known ?? [], adjacent })
          : checkAnthropic(body));
    if (broken) return { broken, body, reply: null };

    const said = script({ api, body: body as Json, turn: turns[api]++ });
    const n = requests.length + 1;
    if (api === 'chat') return { broken, body, reply: chatReply(said, n) };
    if (api === 'anthropic') return { broken, body, reply: anthropicReply(said, n) };
    const reply = responsesReply(said, n);
    // Copied as JSON because a service remembers what it sent, not the script's own objects.
    const output = JSON.parse(JSON.stringify(reply.output)) as Json[];
    if ((body as Json)['store'] !== false) held.set(reply.id, [...(known ?? []), ...(inputItems(body) ?? []), ...output]);
    return { broken, body, reply };
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = new URL(request.url ?? '/', 'http://stand-in').pathname;
    const api = request.method === 'POST' ? paths[path] : undefined;
    const bytes = await readBytes(request, maxBodyBytes);
    const id = `req_${requests.length + 1}`;
    const answer = (status: number, broken: Violation | null, body: unknown, payload: object): void => {
      requests.push({ api: api ?? null, url: request.url ?? '', status, rule: broken?.rule ?? null, message: broken?.message ?? null, body });
      response.writeHead(status, {
        'content-type': 'application/json',
        [api === 'anthropic' ? 'request-id' : 'x-request-id']: id,
        ...(broken && { 'x-rule': broken.rule }),
      });
      response.end(JSON.stringify(payload));
    };
    const refuse = (status: number, type: string, broken: Violation, body: unknown = null): void =>
      answer(status, broken, body, api === 'anthropic' ? anthropicError(type, broken, id) : openaiError(type, broken));

    if (!api) return refuse(404, 'not_found_error', violation('path', `there is no ${request.method} ${path} here`));
    if (!bytes) {
      const type = api === 'anthropic' ? 'request_too_large' : 'invalid_request_error';
      return refuse(413, type, violation('size', `the body is larger than ${maxBodyBytes} bytes`));
    }
    const { broken, body, reply } = judge(api, request, bytes);
    if (broken) return refuse(400, 'invalid_request_error', broken, body);
    answer(200, null, body, reply!);
  };

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      // A script that throws is a broken test: say so, with a status that no rule uses.
      response.writeHead(500, { 'content-type': 'application/json', 'x-rule': 'script', 'x-should-retry': 'false' });
      response.end(JSON.stringify({ error: { type: 'api_error', message: String(error), param: null, code: null } }));
    });
  });
  server.requestTimeout = 30_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    openaiBaseURL: `${origin}/v1`,
    anthropicBaseURL: origin,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export type Api = 'chat' | 'responses' | 'anthropic';

/** `turn` counts the requests accepted on this API before this one. */
export type Script = (request: { readonly api: Api; readonly body: Json; readonly turn: number }) => Reply;

export interface StandInOptions extends ChatProfile {
  /** What the model answers to an accepted request; by default the text `done`. */
  readonly script?: Script;
  /** Responses: demand that outputs directly follow their calls, as one compatible provider does. */
  readonly adjacent?: boolean;
  readonly maxBodyBytes?: number;
}

export interface StandIn {
  /** For `new OpenAI({ baseURL })`. */
  readonly openaiBaseURL: string;
  /** For `new Anthropic({ baseURL })`. */
  readonly anthropicBaseURL: string;
  /** Every request so far, accepted and refused, in order of arrival. */
  readonly requests: readonly RecordedRequest[];
  close(): Promise<void>;
}

export interface RecordedRequest {
  readonly api: Api | null;
  readonly url: string;
  readonly status: number;
  /** The rule that the request broke, or `null` if it was accepted. */
  readonly rule: string | null;
  readonly message: string | null;
  readonly body: unknown;
}

const paths: Readonly<Record<string, Api>> = {
  '/v1/chat/completions': 'chat',
  '/v1/responses': 'responses',
  '/v1/messages': 'anthropic',
};
const unreadable: Readonly<Record<Api, string>> = { chat: 'C01', responses: 'R01', anthropic: 'M01' };
const anthropicVersions = new Set<unknown>(['2023-06-01', '2026-10-21']);

function checkEnvelope(api: Api, request: IncomingMessage, body: unknown, known: readonly Json[] | undefined): Violation | null {
  if (!isObject(body)) return misshapen('the body', 'an object');
  if (body['stream'] === true) return violation('shape', 'this stand-in does not stream', 'stream');
  if (api === 'anthropic' && !anthropicVersions.has(request.headers['anthropic-version'])) {
    return violation('version', 'the header anthropic-version is absent or unknown');
  }
  const previous = body['previous_response_id'] ?? null;
  if (api === 'responses' && previous !== null && !known) {
    return violation('previous', `there is no response ${String(previous)}`, 'previous_response_id', 'previous_response_not_found');
  }
  return null;
}

/** `null` if there are more than `max`; the rest is then read and dropped, so that the client hears the answer. */
async function readBytes(request: IncomingMessage, max: number): Promise<Uint8Array | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= max) chunks.push(chunk);
    else chunks.length = 0;
  }
  return size <= max ? Buffer.concat(chunks) : null;
}

function openaiError(type: string, { message, param, code }: Violation): object {
  return { error: { message, type, param, code } };
}

function anthropicError(type: string, { message }: Violation, requestId: string): object {
  return { type: 'error', error: { type, message }, request_id: requestId };
}
