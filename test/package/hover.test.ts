import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

// What an editor shows comes from the comments in the built declarations.
const DECLARATIONS = ['../../dist/index.d.ts', '../../dist/index.d.cts'];

type Member = ts.PropertySignature | ts.MethodDeclaration | ts.GetAccessorDeclaration | ts.ConstructorDeclaration;

const isMember = (node: ts.Node): node is Member =>
  ts.isPropertySignature(node) ||
  ts.isMethodDeclaration(node) ||
  ts.isGetAccessorDeclaration(node) ||
  ts.isConstructorDeclaration(node);

const isDocumented = (node: ts.Node): boolean => ts.getJSDocCommentsAndTags(node).some((doc) => doc.comment !== undefined);

/** A key that a type names only to refuse it is nothing to hover over. */
const isRefusal = (member: Member): boolean => member.type?.kind === ts.SyntaxKind.UndefinedKeyword;

function members(declaration: ts.Node): Member[] {
  const found: Member[] = [];
  const visit = (node: ts.Node): void => {
    if (isMember(node)) found.push(node);
    else ts.forEachChild(node, visit);
  };
  ts.forEachChild(declaration, visit);
  return found;
}

describe.each(DECLARATIONS)('%s', (path) => {
  const file = fileURLToPath(new URL(path, import.meta.url));
  const program = ts.createProgram([file], { target: ts.ScriptTarget.ES2022, types: [] });
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(program.getSourceFile(file) as ts.SourceFile) as ts.Symbol;
  const exported = checker.getExportsOfModule(module).map((symbol) => ({
    name: symbol.name,
    target: symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
  }));

  test('exports the names of the contract', () => {
    expect(exported.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['ToolCallClosure', 'createToolCallClosure', 'default', 'BatchHandle', 'CloseReasonInput']),
    );
  });

  test.each(exported)('$name is explained', ({ target }) => {
    expect(ts.displayPartsToString(target.getDocumentationComment(checker))).not.toBe('');
  });

  // The default export is the two other names again.
  test.each(exported.filter(({ name }) => name !== 'default'))('so is every member of $name', ({ target }) => {
    const silent = (target.declarations ?? [])
      .flatMap(members)
      .filter((member) => !isRefusal(member) && !isDocumented(member))
      .map((member) => member.getText());
    expect(silent).toEqual([]);
  });

  test('every public method says what it returns or throws', () => {
    const closure = exported.find(({ name }) => name === 'ToolCallClosure')?.target;
    const methods = (closure?.declarations ?? []).flatMap(members).filter(ts.isMethodDeclaration);
    expect(methods).toHaveLength(13);
    const silent = methods.filter((method) => {
      const tags = ts.getJSDocTags(method).map((tag) => tag.tagName.text);
      return !tags.includes('returns') && !tags.includes('throws');
    });
    expect(silent.map((method) => method.name.getText())).toEqual(['snapshot']);
  });
});
