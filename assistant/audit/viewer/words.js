// The words of the page, English and Chinese.

const WORDS = {
  en: {
    title: "Audit export", other: "中文", checking: "Verifying…", verified: "Verified: every check passed.",
    partly: "What could be checked here fits; not everything could be checked.", failed: "This package does not verify.",
    first: (seq, id) => `The first record that does not fit: ${seq} (${id}).`, noCrypto: "This browser has no Web Crypto; nothing was verified.",
    choose: "This package is too large to lie inside the page. Choose its files: records.jsonl, texts.jsonl, passages.jsonl, proof.jsonl.",
    unreadablePage: "The data inside this page is damaged; nothing was verified.",
    checks: { manifest: "Manifest and its signature", files: "Files as the manifest names them", records: "Hash of each record and links between them",
      extent: "First, last and number of records", tree: "Merkle root of the checkpoint", checkpoints: "Signatures of the checkpoints",
      texts: "Personal text", passages: "Cited text stands in its passage" },
    states: { true: "fits", false: "does not fit", null: "not checked" },
    problems: { malformed: "is not a record", not_canonical: "was written in another form", wrong_hash: "its content does not have its hash",
      wrong_tenant: "belongs to another tenant", out_of_order: "is out of order", broken_link: "does not follow the record before",
      gap: "records before it are missing", no_text: "its personal text is missing", unreadable: "its personal text cannot be read",
      wrong_passage: "a cited text is not in its passage" },
    more: { unsigned: "the manifest is not signed", unknown_key: "the key is not in the package", no_ed25519: "this browser has no Ed25519",
      no_checkpoint: "there is no checkpoint", no_proof: "the log has a hole, or no proof was made" },
    newer: (n) => `${n} newer than the checkpoint`, erased: (n) => `erased: ${n}`,
    keys: "Keys in this package. Compare them with those your operator publishes:",
    itself: "A page cannot vouch for itself: who can change the data can change the page. Where that matters, verify the package with a program of your own.", about: "About this package",
    facts: { tenant: "Tenant", by: "Exported by", reason: "Reason", at: "Exported at", filters: "Filters", count: "Records" },
    find: "Find", more_: "Show more", all: (n) => `${n} records`, question: "Question", standalone: "Question as searched", answer: "Answer", erasedText: "The personal text of this record has been erased.",
    unreadableText: "The personal text of this record cannot be read.", passages: "Cited passages", conflicts: "Conflicts", preferred: "preferred",
    followed: "The answer followed", resolution: "Resolution", record: "The record as it is hashed", person: "Person", session: "Session", turn: "Turn", time: "Time",
    mode: "Mode", model: "Model", status: "Status", agreement: "Agreement", version: "version", whole: "The cited text alone is kept.", no: "no", fits: "This record fits.",
    verdicts: { supported: "supported", partial: "partial", unsupported: "unsupported", contradicted: "contradicted" },
    kinds: { turn: "Answer", feedback: "Feedback", correction: "Correction", view: "View", export: "Export", replay: "Replay", hold: "Legal hold", erasure: "Erasure", retention: "Retention", adoption: "Answer of record" },
  },
  zh: {
    title: "审计导出", other: "English", checking: "正在验证…", verified: "已验证：所有检查均通过。",
    partly: "此处能检查的内容均相符；但并非全部都能检查。", failed: "此导出包未通过验证。",
    first: (seq, id) => `第一条不符的记录：${seq}（${id}）。`, noCrypto: "此浏览器没有 Web Crypto，未作任何验证。",
    choose: "此导出包太大，未放入页面。请选择其文件：records.jsonl、texts.jsonl、passages.jsonl、proof.jsonl。",
    unreadablePage: "页面内的数据已损坏，未作任何验证。",
    checks: { manifest: "清单及其签名", files: "文件与清单一致", records: "每条记录的哈希及其链接", extent: "首条、末条与记录数",
      tree: "检查点的默克尔根", checkpoints: "检查点的签名", texts: "个人文本", passages: "引文位于其段落中" },
    states: { true: "相符", false: "不符", null: "未检查" },
    problems: { malformed: "不是记录", not_canonical: "书写形式被改动", wrong_hash: "内容与哈希不符", wrong_tenant: "属于其他租户", out_of_order: "顺序不对",
      broken_link: "与前一条记录不相连", gap: "之前有记录缺失", no_text: "个人文本缺失", unreadable: "个人文本无法读取", wrong_passage: "引文不在其段落中" },
    more: { unsigned: "清单没有签名", unknown_key: "包内没有该密钥", no_ed25519: "此浏览器不支持 Ed25519", no_checkpoint: "没有检查点", no_proof: "日志有缺口，或没有生成证明" },
    newer: (n) => `${n} 条晚于检查点`, erased: (n) => `已删除：${n}`,
    keys: "包内的密钥。请与运营方公布的密钥比对：",
    itself: "页面不能为自身作证：能改动数据的人也能改动页面。如有必要，请用自己的程序验证此导出包。", about: "关于此导出包",
    facts: { tenant: "租户", by: "导出人", reason: "理由", at: "导出时间", filters: "筛选条件", count: "记录数" },
    find: "查找", more_: "显示更多", all: (n) => `${n} 条记录`, question: "问题", standalone: "检索所用的问题", answer: "回答", erasedText: "此记录的个人文本已被删除。",
    unreadableText: "此记录的个人文本无法读取。", passages: "引用的段落", conflicts: "冲突", preferred: "优先",
    followed: "回答采用", resolution: "处理规则", record: "计算哈希的记录原文", person: "人员", session: "会话", turn: "轮次", time: "时间",
    mode: "模式", model: "模型", status: "状态", agreement: "一致度", version: "版本", whole: "仅保留了引文本身。", no: "无", fits: "此记录相符。",
    verdicts: { supported: "有依据", partial: "部分有依据", unsupported: "无依据", contradicted: "相矛盾" },
    kinds: { turn: "回答", feedback: "反馈", correction: "更正", view: "查看", export: "导出", replay: "重放", hold: "法律保留", erasure: "删除", retention: "保留期限", adoption: "正式答案" },
  },
};

let language = (navigator.language ?? "en").toLowerCase().startsWith("zh") ? "zh" : "en";

function words() {
  return WORDS[language];
}

// The word for a code, or the code itself where a later version of the program knows more of them.
function word(list, code) {
  const text = String(code ?? "");
  return Object.hasOwn(words()[list], text) ? words()[list][text] : text;
}
