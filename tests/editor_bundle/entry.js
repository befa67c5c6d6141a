// The parts of the published modules that the editor's document uses, under one name.
export { EditorState, Compartment } from "@codemirror/state";
export { EditorView, drawSelection, highlightSpecialChars, hoverTooltip, keymap, lineNumbers } from "@codemirror/view";
export { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
export { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, startCompletion } from "@codemirror/autocomplete";
export { HighlightStyle, bracketMatching, indentOnInput, syntaxHighlighting } from "@codemirror/language";
export { forEachDiagnostic, linter, lintGutter, lintKeymap } from "@codemirror/lint";
export { json, jsonParseLinter } from "@codemirror/lang-json";
export { tags } from "@lezer/highlight";
export { completion, graphqlLanguageSupport, jump, offsetToPos, posToOffset, stateExtensions, updateSchema } from "cm6-graphql";
export { getDiagnostics, getHoverInformation } from "graphql-language-service";
export { TypeInfo, buildClientSchema, getNamedType, parse, print, visit, visitWithTypeInfo } from "graphql";
