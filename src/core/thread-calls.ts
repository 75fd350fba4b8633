/**
 * Calls between two threads. Each end serves methods and calls those of the other end. A call gets
 * one reply, with the result or the error; a notification gets none. Messages keep their order.
 */
import { CatalogError, messageOf } from "./errors.ts";
import { deserializeError, type SerializedError, serializeError } from "./serialized-error.ts";

/** A worker, or a worker's port to the thread that started it. */
interface Port {
  postMessage(message: unknown, transfer: readonly ArrayBuffer[]): void;
  on(event: "message", listener: (message: Message) => void): unknown;
}

type Method = (argument: never) => unknown;
export type Methods<M> = { readonly [K in keyof M]: Method };

type Message =
  | { readonly method: string; readonly argument: unknown; readonly id?: number }
  | { readonly reply: number; readonly result: unknown }
  | { readonly reply: number; readonly error: CallError };

/** `stack`: of an error that is not a CatalogError, for logging. */
type CallError = SerializedError & { readonly stack?: string | undefined };

export interface Connection<M extends Methods<M>> {
  /** Rejects with the error of the method, or with the reason of `end`. */
  call<K extends keyof M & string>(
    method: K,
    argument: Parameters<M[K]>[0],
    transfer?: readonly ArrayBuffer[],
  ): Promise<Awaited<ReturnType<M[K]>>>;
  notify<K extends keyof M & string>(method: K, argument: Parameters<M[K]>[0]): void;
  /** The other end has ended: open calls and later ones are rejected. */
  end(reason: unknown): void;
}

/** A result with buffers that are transferred instead of copied. */
export class Transfer<T> {
  readonly result: T;
  readonly buffers: readonly ArrayBuffer[];

  constructor(result: T, buffers: readonly ArrayBuffer[]) {
    this.result = result;
    this.buffers = buffers;
  }
}

/**
 * `own`: the methods that this end serves. A method that throws in a notification ends the thread.
 */
export function connect<M extends Methods<M>>(
  port: Port,
  own: Readonly<Record<string, Method>>,
): Connection<M> {
  const methods = new Map(Object.entries(own));
  const open = new Map<number, PromiseWithResolvers<unknown>>();
  let last = 0;
  let ended: { readonly reason: unknown } | undefined;

  function reply(id: number, result: unknown): void {
    if (result instanceof Transfer) {
      port.postMessage({ reply: id, result: result.result } satisfies Message, result.buffers);
    } else port.postMessage({ reply: id, result } satisfies Message, []);
  }

  function fail(id: number, error: unknown): void {
    port.postMessage({ reply: id, error: serialize(error) } satisfies Message, []);
  }

  function serve({ method: name, argument, id }: Extract<Message, { method: string }>): void {
    const method = methods.get(name);
    if (id === undefined) {
      method?.(argument as never);
      return;
    }
    try {
      if (method === undefined) throw new Error(`the thread has no method "${name}"`);
      const result = method(argument as never);
      // A synchronous result is sent before the next message is read.
      if (!(result instanceof Promise)) reply(id, result);
      else result.then((later) => reply(id, later)).catch((error) => fail(id, error));
    } catch (error) {
      fail(id, error);
    }
  }

  port.on("message", (message) => {
    if ("method" in message) return serve(message);
    const call = open.get(message.reply);
    open.delete(message.reply);
    if ("error" in message) call?.reject(deserialize(message.error));
    else call?.resolve(message.result);
  });

  return {
    call(method, argument, transfer = []) {
      if (ended !== undefined) return Promise.reject(ended.reason);
      const id = ++last;
      const wait = Promise.withResolvers<unknown>();
      open.set(id, wait);
      try {
        port.postMessage({ method, argument, id } satisfies Message, transfer);
      } catch (error) {
        open.delete(id);
        wait.reject(error);
      }
      return wait.promise as Promise<never>;
    },
    notify: (method, argument) => port.postMessage({ method, argument } satisfies Message, []),
    end(reason) {
      ended ??= { reason };
      for (const { reject } of open.values()) reject(ended.reason);
      open.clear();
    },
  };
}

const serialize = (error: unknown): CallError =>
  error instanceof CatalogError
    ? serializeError(error)
    : { code: "internal", message: messageOf(error), stack: serializeError(error).message };

function deserialize({ stack, ...error }: CallError): Error {
  if (stack === undefined) return deserializeError(error);
  return Object.assign(new Error(error.message), { stack });
}
