export declare function scratch(name: string): string;
export declare function pack(folder: string): string;
export declare function install(tarball: string, folder: string): string;
export declare function pool<Result>(jobs: readonly (() => Promise<Result>)[]): Promise<Result[]>;
export declare function printTable(rows: readonly (readonly unknown[])[]): void;
