// The Restate SDK calls Promise.withResolvers, which Node has from 22 on. Imported first, this lets it run on Node 20 too.
interface Resolvers<T> {
  promise: Promise<T>;
  resolve: (value: T | PromiseLike<T>) => void;
  reject: (reason?: unknown) => void;
}

const constructor = Promise as PromiseConstructor & { withResolvers?: <T>() => Resolvers<T> };
constructor.withResolvers ??= function withResolvers<T>(): Resolvers<T> {
  let resolve!: Resolvers<T>['resolve'];
  let reject!: Resolvers<T>['reject'];
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
};
