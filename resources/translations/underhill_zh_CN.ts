<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
    <context>
        <name>window</name>
        <message>
            <location filename="../../app/application.py"></location>
            <source>Some settings can't be used.</source>
            <translation>部分设置无法使用。</translation>
        </message>
        <message>
            <location filename="../../app/application.py"></location>
            <source>Underhill is already running but not responding.</source>
            <translation>Underhill 已在运行，但没有响应。</translation>
        </message>
        <message>
            <location filename="../../app/application.py"></location>
            <source>If this doesn't change, end process {number} in the task manager.</source>
            <translation>如果一直没有响应，在任务管理器中结束进程 {number}。</translation>
        </message>
        <message>
            <location filename="../../app/application.py"></location>
            <source>If this doesn't change, end it in the task manager.</source>
            <translation>如果一直没有响应，在任务管理器中将其结束。</translation>
        </message>
        <message>
            <location filename="../../app/application.py"></location>
            <source>It may be busy. Wait a moment, then try again.</source>
            <translation>它可能正忙。稍等片刻再试。</translation>
        </message>
        <message>
            <location filename="../../app/application.py"></location>
            <source>Your chats are safe.</source>
            <translation>你的对话没有丢失。</translation>
        </message>
        <message>
            <location filename="../../app/application.py"></location>
            <source>Try again</source>
            <translation>重试</translation>
        </message>
        <message>
            <location filename="../../app/application.py"></location>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
        <message>
            <location filename="../../app/attachments/controller.py"></location>
            <source>Attach files</source>
            <translation>添加附件</translation>
        </message>
        <message>
            <location filename="../../app/attachments/controller.py"></location>
            <source>All files (*)</source>
            <translation>所有文件 (*)</translation>
        </message>
        <message>
            <location filename="../../app/attachments/controller.py"></location>
            <source>Images ({patterns})</source>
            <translation>图片 ({patterns})</translation>
        </message>
        <message>
            <location filename="../../app/attachments/controller.py"></location>
            <source>Pasted image {number}</source>
            <translation>粘贴的图片 {number}</translation>
        </message>
        <message>
            <location filename="../../app/attachments/controller.py"></location>
            <source>Pasted text {number}</source>
            <translation>粘贴的文本 {number}</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/attachments/controller.py"></location>
            <source>%n images not attached</source>
            <translation>
                <numerusform>%n 张图片未添加</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/attachments/controller.py"></location>
            <source>A message can have {count} images.</source>
            <translation>一条消息最多可带 {count} 张图片。</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/attachments/controller.py"></location>
            <source>%n files not attached</source>
            <translation>
                <numerusform>%n 个文件未添加</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/attachments/controller.py"></location>
            <source>{file} wasn't attached because you switched chats.</source>
            <translation>切换了对话，{file} 未添加。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/controller.py"></location>
            <source>Attach it again.</source>
            <translation>重新添加即可。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/dialog.py"></location>
            <source>Attachments</source>
            <translation>附件</translation>
        </message>
        <message>
            <location filename="../../app/attachments/dialog.py"></location>
            <source>Find in this text</source>
            <translation>在此文本中查找</translation>
        </message>
        <message>
            <location filename="../../app/attachments/dialog.py"></location>
            <source>Find</source>
            <translation>查找</translation>
        </message>
        <message>
            <location filename="../../app/attachments/dialog.py"></location>
            <source>Copy</source>
            <translation>复制</translation>
        </message>
        <message>
            <location filename="../../app/attachments/dialog.py"></location>
            <source>Copy text</source>
            <translation>复制文本</translation>
        </message>
        <message>
            <location filename="../../app/attachments/dialog.py"></location>
            <source>Save as…</source>
            <translation>另存为…</translation>
        </message>
        <message>
            <location filename="../../app/attachments/dialog.py"></location>
            <source>Copy image</source>
            <translation>复制图片</translation>
        </message>
        <message>
            <location filename="../../app/attachments/dialog.py"></location>
            <source>Text of {name}</source>
            <translation>{name} 的文本</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/attachments/dialog.py"></location>
            <source>{count:,} tokens</source>
            <translation>
                <numerusform>{count:,} 词元</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/attachments/dialog.py"></location>
            <source>first {count:,} characters shown; Copy copies all</source>
            <translation>显示前 {count:,} 个字符；复制会包含全部</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/attachments/dialog.py"></location>
            <source>{count:,} matches</source>
            <translation>
                <numerusform>{count:,} 处</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/attachments/dialog.py"></location>
            <source>No matches</source>
            <translation>无匹配</translation>
        </message>
        <message>
            <location filename="../../app/attachments/documents.py"></location>
            <source>Files not included</source>
            <translation>未包含的文件</translation>
        </message>
        <message>
            <location filename="../../app/attachments/documents.py"></location>
            <source>These files aren't searched:</source>
            <translation>以下文件不会被搜索：</translation>
        </message>
        <message>
            <location filename="../../app/attachments/documents.py"></location>
            <source>Indexing…</source>
            <translation>正在索引…</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/attachments/documents.py"></location>
            <source>{count:,} passages</source>
            <translation>
                <numerusform>{count:,} 个段落</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/attachments/documents.py"></location>
            <source>{count:,} not included</source>
            <translation>
                <numerusform>{count:,} 个未包含</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/attachments/documents.py"></location>
            <source>{count:,} files</source>
            <translation>
                <numerusform>{count:,} 个文件</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/attachments/documents.py"></location>
            <source>Attach folder</source>
            <translation>添加文件夹</translation>
        </message>
        <message>
            <location filename="../../app/attachments/documents.py"></location>
            <source>{name} removed from this chat</source>
            <translation>已从此对话移除 {name}</translation>
        </message>
        <message>
            <location filename="../../app/attachments/documents.py"></location>
            <source>Undo</source>
            <translation>撤销</translation>
        </message>
        <message>
            <location filename="../../app/attachments/documents.py"></location>
            <source>indexing {share}%</source>
            <translation>正在索引 {share}%</translation>
        </message>
        <message>
            <location filename="../../app/attachments/documents.py"></location>
            <source>Nothing in it can be searched.</source>
            <translation>其中没有可搜索的内容。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/documents.py"></location>
            <source>can't be read</source>
            <translation>无法读取</translation>
        </message>
        <message>
            <location filename="../../app/attachments/documents.py"></location>
            <source>Searched at each question. Click for details.</source>
            <translation>每次提问时搜索。点击查看详情。</translation>
        </message>
        <message>
            <location filename="../../app/backend.py"></location>
            <source>Loading model</source>
            <translation>正在加载模型</translation>
        </message>
        <message>
            <location filename="../../app/backend.py"></location>
            <source>Reading model files</source>
            <translation>正在读取模型文件</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Off</source>
            <translation>关闭</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Minimal</source>
            <translation>极少</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Low</source>
            <translation>低</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Automatic</source>
            <translation>自动</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Medium</source>
            <translation>中</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>On</source>
            <translation>开启</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>High</source>
            <translation>高</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Very high</source>
            <translation>很高</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Maximum</source>
            <translation>最高</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Thinking</source>
            <translation>思考</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Thinking: {choice}</source>
            <translation>思考：{choice}</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Toggle sidebar</source>
            <translation>显示/隐藏侧边栏</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>No model</source>
            <translation>没有模型</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Manage models…</source>
            <translation>管理模型…</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Manage teams…</source>
            <translation>管理团队…</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Manage endpoints…</source>
            <translation>管理端点…</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Import folder…</source>
            <translation>导入文件夹…</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Import GGUF file…</source>
            <translation>导入 GGUF 文件…</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Cancel</source>
            <translation>取消</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Offline</source>
            <translation>离线</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Toggle performance panel</source>
            <translation>显示/隐藏性能面板</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Settings</source>
            <translation>设置</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>More</source>
            <translation>更多</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Progress</source>
            <translation>进度</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Compare answers…</source>
            <translation>对比回答…</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Prompts…</source>
            <translation>提示词…</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Keyboard shortcuts</source>
            <translation>键盘快捷键</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Welcome tour</source>
            <translation>新手引导</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>About this computer</source>
            <translation>关于这台电脑</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Privacy</source>
            <translation>隐私</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Open log folder</source>
            <translation>打开日志文件夹</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>About Underhill</source>
            <translation>关于 Underhill</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Select a model</source>
            <translation>选择模型</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Model: {name}</source>
            <translation>模型：{name}</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Importing: {step}</source>
            <translation>正在导入：{step}</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Loading {model}</source>
            <translation>正在加载 {model}</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Generating…</source>
            <translation>正在生成…</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Ready</source>
            <translation>就绪</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Failed to load</source>
            <translation>加载失败</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Engine stopped</source>
            <translation>引擎已停止</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>{model} not available</source>
            <translation>{model} 不可用</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Remote server</source>
            <translation>远程服务器</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Loads when you send</source>
            <translation>发送时加载</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>{model}, chosen for this chat, is not available.</source>
            <translation>此对话所选的 {model} 不可用。</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>{model} answers instead.</source>
            <translation>改由 {model} 回答。</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Answers come from {host}. Your messages leave this computer.</source>
            <translation>回答来自 {host}。你的消息会离开这台电脑。</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>{model} is loaded now.</source>
            <translation>当前已加载 {model}。</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Sending a message loads {model}.</source>
            <translation>发送消息后将加载 {model}。</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Offline: the HF_HUB_OFFLINE variable is set. Click to open the setting.</source>
            <translation>离线：已设置环境变量 HF_HUB_OFFLINE。点击打开设置。</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Offline mode is on. Click to open the setting.</source>
            <translation>离线模式已开启。点击打开设置。</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Offline: open setting</source>
            <translation>离线：打开设置</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/chat/header.py"></location>
            <source>%n requests</source>
            <translation>
                <numerusform>%n 个请求</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>no requests now</source>
            <translation>目前没有请求</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>{count}</source>
            <comment>in the header: requests to the local server</comment>
            <translation>服务器：{count}</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Server</source>
            <translation>服务器</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Local server: {count}</source>
            <translation>本地服务器：{count}</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Apps can connect at {address}: {count}. Click to see them.</source>
            <translation>应用可通过 {address} 连接：{count}。点击查看。</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/chat/header.py"></location>
            <source>Downloading %n models</source>
            <translation>
                <numerusform>正在下载 %n 个模型</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/chat/header.py"></location>
            <source>%n downloads failed</source>
            <translation>
                <numerusform>%n 个下载失败</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Downloading {share}</source>
            <translation>正在下载 {share}</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Team</source>
            <translation>团队</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Missing models: {names}</source>
            <translation>缺少模型：{names}</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Underhill demo model</source>
            <translation>Underhill 演示模型</translation>
        </message>
        <message>
            <location filename="../../app/chat/image_support.py"></location>
            <source>{model} can't read images.</source>
            <translation>{model} 无法读取图片。</translation>
        </message>
        <message>
            <location filename="../../app/chat/image_support.py"></location>
            <source>Select a model that can.</source>
            <translation>选择能读取图片的模型。</translation>
        </message>
        <message>
            <location filename="../../app/chat/running_answers.py"></location>
            <source>Stopping…  ·  Esc again to stop waiting</source>
            <translation>正在停止…  ·  再按 Esc 不再等待</translation>
        </message>
        <message>
            <location filename="../../app/chat/running_answers.py"></location>
            <source>{step}…  ·  Esc to stop</source>
            <translation>{step}…  ·  按 Esc 停止</translation>
        </message>
        <message>
            <location filename="../../app/chat/running_answers.py"></location>
            <source>Esc to stop</source>
            <translation>按 Esc 停止</translation>
        </message>
        <message>
            <location filename="../../app/chat/running_answers.py"></location>
            <source>Another chat is generating  ·  Esc to stop</source>
            <translation>另一个对话正在生成  ·  按 Esc 停止</translation>
        </message>
        <message>
            <location filename="../../app/chat/running_answers.py"></location>
            <source>{doing}  ·  Esc to stop</source>
            <translation>{doing}  ·  按 Esc 停止</translation>
        </message>
        <message>
            <location filename="../../app/chat/running_answers.py"></location>
            <source>Loading model  ·  {waited}</source>
            <translation>正在加载模型  ·  {waited}</translation>
        </message>
        <message>
            <location filename="../../app/chat/running_answers.py"></location>
            <source>Processing prompt: {share}% of {total} tokens ({reused} cached)</source>
            <translation>处理提示词：{total} 词元的 {share}%（缓存 {reused}）</translation>
        </message>
        <message>
            <location filename="../../app/chat/running_answers.py"></location>
            <source>Processing prompt: {share}% of {total} tokens</source>
            <translation>处理提示词：{total} 词元的 {share}%</translation>
        </message>
        <message>
            <location filename="../../app/chat/running_answers.py"></location>
            <source>Waiting for {host}  ·  {waited}</source>
            <translation>正在等待 {host}  ·  {waited}</translation>
        </message>
        <message>
            <location filename="../../app/chat/running_answers.py"></location>
            <source>Starting…  ·  {waited}</source>
            <translation>即将开始…  ·  {waited}</translation>
        </message>
        <message>
            <location filename="../../app/chat/running_answers.py"></location>
            <source>Running {tool}…  ·  {waited}  ·  Esc to stop</source>
            <translation>正在运行 {tool}…  ·  {waited}  ·  按 Esc 停止</translation>
        </message>
        <message>
            <location filename="../../app/chat/running_answers.py"></location>
            <source>Waiting for your permission  ·  Esc to stop</source>
            <translation>等待你的许可  ·  按 Esc 停止</translation>
        </message>
        <message>
            <location filename="../../app/chat/running_answers.py"></location>
            <source>{rate} tok/s</source>
            <translation>{rate} 词元/秒</translation>
        </message>
        <message>
            <location filename="../../app/chat/running_answers.py"></location>
            <source>Unsaved text is kept while the app is open.</source>
            <translation>未保存的内容在应用打开期间保留。</translation>
        </message>
        <message>
            <location filename="../../app/chat/welcome.py"></location>
            <source>Hello! Who are you?</source>
            <translation>你好！你是谁？</translation>
        </message>
        <message>
            <location filename="../../app/chat/welcome.py"></location>
            <source>What can you help me with?</source>
            <translation>你能帮我做什么？</translation>
        </message>
        <message>
            <location filename="../../app/chat/welcome.py"></location>
            <source>Tell me a short story about a fox.</source>
            <translation>给我讲一个关于狐狸的小故事。</translation>
        </message>
        <message>
            <location filename="../../app/chat/welcome.py"></location>
            <source>What is the sun?</source>
            <translation>太阳是什么？</translation>
        </message>
        <message>
            <location filename="../../app/chat/welcome.py"></location>
            <source>Explain how a Mixture-of-Experts model works, with an everyday comparison.</source>
            <translation>用生活中的例子解释混合专家模型是怎样工作的。</translation>
        </message>
        <message>
            <location filename="../../app/chat/welcome.py"></location>
            <source>Write a Python function that finds duplicate files in a folder.</source>
            <translation>写一个 Python 函数，找出文件夹里的重复文件。</translation>
        </message>
        <message>
            <location filename="../../app/chat/welcome.py"></location>
            <source>Help me plan a week of simple dinners for two.</source>
            <translation>帮我安排一周两人份的简单晚餐。</translation>
        </message>
        <message>
            <location filename="../../app/chat/welcome.py"></location>
            <source>Summarize the pros and cons of heat pumps in a table.</source>
            <translation>用表格总结热泵的优缺点。</translation>
        </message>
        <message>
            <location filename="../../app/chat/welcome.py"></location>
            <source>Show or hide details</source>
            <translation>显示或隐藏详情</translation>
        </message>
        <message>
            <location filename="../../app/chat/welcome.py"></location>
            <source>What's on your mind?</source>
            <translation>想聊点什么？</translation>
        </message>
        <message>
            <location filename="../../app/chat/welcome.py"></location>
            <source>Welcome to Underhill</source>
            <translation>欢迎使用 Underhill</translation>
        </message>
        <message>
            <location filename="../../app/chat/welcome.py"></location>
            <source>Ask: {question}</source>
            <translation>提问：{question}</translation>
        </message>
        <message>
            <location filename="../../app/chat/welcome.py"></location>
            <source>Select a model or import one</source>
            <translation>选择或导入模型</translation>
        </message>
        <message>
            <location filename="../../app/compare/column.py"></location>
            <source>{place}: model</source>
            <translation>{place}：模型</translation>
        </message>
        <message>
            <location filename="../../app/compare/column.py"></location>
            <source>{place}: quality</source>
            <translation>{place}：质量</translation>
        </message>
        <message>
            <location filename="../../app/compare/column.py"></location>
            <source>{place}: preset</source>
            <translation>{place}：预设</translation>
        </message>
        <message>
            <location filename="../../app/compare/column.py"></location>
            <source>{place}: engine setting</source>
            <translation>{place}：引擎设置</translation>
        </message>
        <message>
            <location filename="../../app/compare/column.py"></location>
            <source>Engine settings</source>
            <translation>引擎设置</translation>
        </message>
        <message>
            <location filename="../../app/compare/column.py"></location>
            <source>{place}: answer</source>
            <translation>{place}：回答</translation>
        </message>
        <message>
            <location filename="../../app/compare/column.py"></location>
            <source>Use this answer</source>
            <translation>采用此回答</translation>
        </message>
        <message>
            <location filename="../../app/compare/column.py"></location>
            <source>{place}: use this answer</source>
            <translation>{place}：采用此回答</translation>
        </message>
        <message>
            <location filename="../../app/compare/column.py"></location>
            <source>{place}: copy</source>
            <translation>{place}：复制</translation>
        </message>
        <message>
            <location filename="../../app/compare/column.py"></location>
            <source>Chat settings</source>
            <translation>对话设置</translation>
        </message>
        <message>
            <location filename="../../app/compare/column.py"></location>
            <source>Stopped</source>
            <translation>已停止</translation>
        </message>
        <message>
            <location filename="../../app/compare/page.py"></location>
            <source>Compare answers</source>
            <translation>对比回答</translation>
        </message>
        <message>
            <location filename="../../app/compare/page.py"></location>
            <source>Back to chat</source>
            <translation>返回对话</translation>
        </message>
        <message>
            <location filename="../../app/compare/page.py"></location>
            <source>Left</source>
            <translation>左侧</translation>
        </message>
        <message>
            <location filename="../../app/compare/page.py"></location>
            <source>Right</source>
            <translation>右侧</translation>
        </message>
        <message>
            <location filename="../../app/compare/page.py"></location>
            <source>Question</source>
            <translation>问题</translation>
        </message>
        <message>
            <location filename="../../app/compare/page.py"></location>
            <source>Ask both</source>
            <translation>向两者提问</translation>
        </message>
        <message>
            <location filename="../../app/compare/page.py"></location>
            <source>Stop</source>
            <translation>停止</translation>
        </message>
        <message>
            <location filename="../../app/compare/page.py"></location>
            <source>No model is available. Add one first.</source>
            <translation>没有可用的模型。请先添加一个。</translation>
        </message>
        <message>
            <location filename="../../app/compare/page.py"></location>
            <source>Choose another model, quality, preset or engine setting on one side.</source>
            <translation>请为其中一侧选择不同的模型、质量、预设或引擎设置。</translation>
        </message>
        <message>
            <location filename="../../app/compare/page.py"></location>
            <source>Choose another model, quality or engine setting on one side.</source>
            <translation>请为其中一侧选择不同的模型、质量或引擎设置。</translation>
        </message>
        <message>
            <location filename="../../app/compare/page.py"></location>
            <source>The answers are generated one after the other.</source>
            <translation>两个回答依次生成。</translation>
        </message>
        <message>
            <location filename="../../app/compare/page.py"></location>
            <source>If memory can't hold both models, the first is unloaded for the second.</source>
            <translation>如果内存装不下两个模型，会先卸载第一个，再加载第二个。</translation>
        </message>
        <message>
            <location filename="../../app/compare/page.py"></location>
            <source>The model is loaded again with the changed setting, and with its own before your next message.</source>
            <translation>模型会以更改后的设置重新加载，并在你发送下一条消息前恢复其自身的设置。</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/compare/page.py"></location>
            <source>The {count:,} messages before it in the chat are included.</source>
            <translation>
                <numerusform>对话中此前的 {count:,} 条消息也会包含在内。</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/compare/page.py"></location>
            <source>KL not measured.</source>
            <translation>未测量 KL。</translation>
        </message>
        <message>
            <location filename="../../app/compare/page.py"></location>
            <source>Every expert is in memory, so both run at full precision: no loss to measure.</source>
            <translation>所有专家都在内存中，两侧均以全精度运行：没有可测量的损失。</translation>
        </message>
        <message>
            <location filename="../../app/compare/page.py"></location>
            <source>Difference of {second} from {first}: KL {kl} (left answer, {count:,} tokens).</source>
            <translation>“{second}”与“{first}”的差异：KL {kl}（左侧回答，{count:,} 词元）。</translation>
        </message>
        <message>
            <location filename="../../app/compare/page.py"></location>
            <source>Words that differ are underlined.</source>
            <translation>不同的词以下划线标出。</translation>
        </message>
        <message>
            <location filename="../../app/compare/page.py"></location>
            <source>Both answers are the same.</source>
            <translation>两个回答完全相同。</translation>
        </message>
        <message>
            <location filename="../../app/compare/page.py"></location>
            <source>Too long to mark what differs.</source>
            <translation>内容过长，无法标出差异。</translation>
        </message>
        <message>
            <location filename="../../app/compare/run.py"></location>
            <source>Waiting for the other answer</source>
            <translation>正在等待另一个回答</translation>
        </message>
        <message>
            <location filename="../../app/compare/run.py"></location>
            <source>Starting…</source>
            <translation>正在启动…</translation>
        </message>
        <message>
            <location filename="../../app/compare/run.py"></location>
            <source>Measuring KL…</source>
            <translation>正在测量 KL…</translation>
        </message>
        <message>
            <location filename="../../app/compare/run.py"></location>
            <source>Measuring KL: {share}%</source>
            <translation>正在测量 KL：{share}%</translation>
        </message>
        <message>
            <location filename="../../app/compare/settings_text.py"></location>
            <source>{name}: {value}</source>
            <translation>{name}：{value}</translation>
        </message>
        <message>
            <location filename="../../app/compare/settings_text.py"></location>
            <source>System prompt</source>
            <translation>系统提示词</translation>
        </message>
        <message>
            <location filename="../../app/compare/settings_text.py"></location>
            <source>None</source>
            <translation>无</translation>
        </message>
        <message>
            <location filename="../../app/compare/settings_text.py"></location>
            <source>Stop sequences</source>
            <translation>停止序列</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Context used</source>
            <translation>已用上下文</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Message too long</source>
            <translation>消息过长</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Context full: oldest messages left out</source>
            <translation>上下文已满：略去最早的消息</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Context {share} full</source>
            <translation>上下文已用 {share}</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>{draft} tokens  ·  {taken}</source>
            <translation>{draft} 词元  ·  {taken}</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Message too long: the limit is {context} tokens.</source>
            <translation>消息过长：上限为 {context} 词元。</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>{used} of {context} tokens. The oldest messages will be left out.</source>
            <translation>已用 {used} / {context} 词元，最早的消息将被略去。</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>{used} of {context} tokens used</source>
            <translation>已用 {used} / {context} 词元</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Cancel edit</source>
            <translation>取消编辑</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Editing: sending creates a new version</source>
            <translation>编辑中：发送后生成新版本</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Editing answer: Enter saves a new version</source>
            <translation>编辑回答：按 Enter 保存为新版本</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Drop files here to attach</source>
            <translation>拖放文件到此处</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Queued messages</source>
            <translation>排队的消息</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Remove</source>
            <translation>移除</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Remove file</source>
            <translation>移除文件</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Documents</source>
            <translation>文档</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Remove from chat</source>
            <translation>从对话中移除</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Message</source>
            <translation>消息</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Send a message</source>
            <translation>输入消息</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Send</source>
            <translation>发送</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Tools</source>
            <translation>工具</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>, </source>
            <comment>between the names of a list</comment>
            <translation>、</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Queued. Click to edit.</source>
            <translation>已排队，点击可编辑</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Send a message (queued until this answer ends)</source>
            <translation>输入消息（回答结束后发送）</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Click to view</source>
            <translation>点击查看</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>{name}  ·  {count:,} tokens</source>
            <translation>{name}  ·  {count:,} 词元</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Click to preview the text</source>
            <translation>点击预览文本</translation>
        </message>
        <message>
            <location filename="../../app/computer_probe.py"></location>
            <source>Queued</source>
            <translation>排队中</translation>
        </message>
        <message>
            <location filename="../../app/controllers/chat_controller.py"></location>
            <source>Shorten message</source>
            <translation>缩短消息</translation>
        </message>
        <message>
            <location filename="../../app/controllers/chat_navigator.py"></location>
            <source>This chat was deleted.</source>
            <translation>此对话已被删除。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/chats_controller.py"></location>
            <source>“{title}” moved to “{folder}”</source>
            <translation>“{title}”已移到“{folder}”</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/controllers/chats_controller.py"></location>
            <source>%n chats moved to “{folder}”</source>
            <translation>
                <numerusform>%n 个对话已移到“{folder}”</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/controllers/chats_controller.py"></location>
            <source>“{title}” removed from its folder</source>
            <translation>“{title}”已移出文件夹</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/controllers/chats_controller.py"></location>
            <source>%n chats removed from their folders</source>
            <translation>
                <numerusform>%n 个对话已移出文件夹</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/controllers/chats_controller.py"></location>
            <source>Folder “{folder}” deleted, chats kept</source>
            <translation>文件夹“{folder}”已删除，对话保留</translation>
        </message>
        <message>
            <location filename="../../app/controllers/chats_controller.py"></location>
            <source>Merged with the existing folder “{folder}”</source>
            <translation>已与现有文件夹“{folder}”合并</translation>
        </message>
        <message>
            <location filename="../../app/controllers/chats_controller.py"></location>
            <source>“{title}” deleted</source>
            <translation>已删除“{title}”</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/controllers/chats_controller.py"></location>
            <source>%n chats deleted</source>
            <translation>
                <numerusform>已删除 %n 个对话</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/controllers/chats_controller.py"></location>
            <source>New folder</source>
            <translation>新建文件夹</translation>
        </message>
        <message>
            <location filename="../../app/controllers/chats_controller.py"></location>
            <source>Trash…</source>
            <translation>回收站…</translation>
        </message>
        <message>
            <location filename="../../app/controllers/chats_controller.py"></location>
            <source>New folder {number}</source>
            <translation>新建文件夹 {number}</translation>
        </message>
        <message>
            <location filename="../../app/controllers/compare_controller.py"></location>
            <source>Can't compare: the question was deleted</source>
            <translation>无法对比：问题已被删除</translation>
        </message>
        <message>
            <location filename="../../app/controllers/compare_controller.py"></location>
            <source>Wait for the answer, or press Esc to stop it</source>
            <translation>等回答结束，或按 Esc 停止</translation>
        </message>
        <message>
            <location filename="../../app/controllers/engine_controller.py"></location>
            <source>Send a message (queued until the model is ready)</source>
            <translation>输入消息（就绪后发送）</translation>
        </message>
        <message>
            <location filename="../../app/controllers/engine_controller.py"></location>
            <source>Select a model to start</source>
            <translation>先选择模型</translation>
        </message>
        <message>
            <location filename="../../app/controllers/engine_controller.py"></location>
            <source>Send a message (loads {model})</source>
            <translation>输入消息（将加载 {model}）</translation>
        </message>
        <message>
            <location filename="../../app/controllers/engine_controller.py"></location>
            <source>Send a message (leaves this computer)</source>
            <translation>输入消息（会离开这台电脑）</translation>
        </message>
        <message>
            <location filename="../../app/controllers/engine_controller.py"></location>
            <source>Loading model…</source>
            <translation>正在加载模型…</translation>
        </message>
        <message>
            <location filename="../../app/controllers/engine_controller.py"></location>
            <source>Answers come from {host}. The panels show this computer.</source>
            <translation>回答来自 {host}。面板显示的是这台电脑。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/engine_controller.py"></location>
            <source>{model} runs in compatibility mode, more slowly</source>
            <translation>{model} 以兼容模式运行，速度较慢</translation>
        </message>
        <message>
            <location filename="../../app/controllers/engine_controller.py"></location>
            <source>Use</source>
            <translation>使用</translation>
        </message>
        <message>
            <location filename="../../app/controllers/engine_controller.py"></location>
            <source>{model} imported</source>
            <translation>{model} 已导入</translation>
        </message>
        <message>
            <location filename="../../app/controllers/library_controller.py"></location>
            <source>Model folder</source>
            <translation>模型文件夹</translation>
        </message>
        <message>
            <location filename="../../app/controllers/library_controller.py"></location>
            <source>Model file</source>
            <translation>模型文件</translation>
        </message>
        <message>
            <location filename="../../app/controllers/library_controller.py"></location>
            <source>GGUF models</source>
            <translation>GGUF 模型</translation>
        </message>
        <message>
            <location filename="../../app/controllers/library_controller.py"></location>
            <source>Another model is being imported. Wait for it to finish.</source>
            <translation>正在导入另一个模型，等它完成后再导入。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/library_controller.py"></location>
            <source>{model} is {saved} smaller. The original is in the trash.</source>
            <translation>{model} 缩小了 {saved}。原模型在回收站中。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/library_controller.py"></location>
            <source>Choose another…</source>
            <translation>另选…</translation>
        </message>
        <message>
            <location filename="../../app/controllers/library_controller.py"></location>
            <source>{name} moved to trash</source>
            <translation>{name} 已移到回收站</translation>
        </message>
        <message>
            <location filename="../../app/controllers/library_controller.py"></location>
            <source>Download failed: {model}</source>
            <translation>下载失败：{model}</translation>
        </message>
        <message>
            <location filename="../../app/controllers/library_controller.py"></location>
            <source>Downloads</source>
            <translation>下载</translation>
        </message>
        <message>
            <location filename="../../app/controllers/library_controller.py"></location>
            <source>{done} of {total}</source>
            <translation>{done} / {total}</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/controllers/library_controller.py"></location>
            <source>%n unfinished downloads</source>
            <translation>
                <numerusform>%n 个未完成的下载</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/controllers/library_controller.py"></location>
            <source>Unfinished download: {model} ({so_far})</source>
            <translation>未完成的下载：{model}（{so_far}）</translation>
        </message>
        <message>
            <location filename="../../app/controllers/library_controller.py"></location>
            <source>It was paused, or interrupted when the app closed.</source>
            <translation>下载已暂停，或因关闭应用而中断。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/library_controller.py"></location>
            <source>Resume</source>
            <translation>继续</translation>
        </message>
        <message>
            <location filename="../../app/controllers/message_editing.py"></location>
            <source>Can't regenerate: the question was deleted</source>
            <translation>无法重新生成：问题已删除</translation>
        </message>
        <message>
            <location filename="../../app/controllers/message_editing.py"></location>
            <source>Nothing to continue</source>
            <translation>没有可继续的内容</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/controllers/message_editing.py"></location>
            <source>Version and %n later messages deleted</source>
            <translation>
                <numerusform>已删除此版本及其后的 %n 条消息</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/controllers/message_editing.py"></location>
            <source>Message deleted</source>
            <translation>消息已删除</translation>
        </message>
        <message>
            <location filename="../../app/controllers/onboarding_controller.py"></location>
            <source>{model} downloaded</source>
            <translation>{model} 下载完成</translation>
        </message>
        <message>
            <location filename="../../app/controllers/reading_aloud.py"></location>
            <source>No voice found. Install speech-dispatcher.</source>
            <translation>未找到语音。安装 speech-dispatcher。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/reading_aloud.py"></location>
            <source>Can't read aloud: {error}</source>
            <translation>无法朗读：{error}</translation>
        </message>
        <message>
            <location filename="../../app/controllers/server_controller.py"></location>
            <source>Open the settings</source>
            <translation>打开设置</translation>
        </message>
        <message>
            <location filename="../../app/controllers/storage_controller.py"></location>
            <source>Open folder</source>
            <translation>打开文件夹</translation>
        </message>
        <message>
            <location filename="../../app/controllers/storage_controller.py"></location>
            <source>Restore backup…</source>
            <translation>恢复备份…</translation>
        </message>
        <message>
            <location filename="../../app/controllers/storage_controller.py"></location>
            <source>Manage models</source>
            <translation>管理模型</translation>
        </message>
        <message>
            <location filename="../../app/controllers/storage_controller.py"></location>
            <source>Chats are being saved again</source>
            <translation>对话已恢复保存</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/controllers/storage_controller.py"></location>
            <source>%n chats are kept only while the app is open. Cancel and export those you need.</source>
            <translation>
                <numerusform>%n 个对话只在应用打开期间保留。如有需要，取消退出并导出。</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/controllers/storage_controller.py"></location>
            <source>New chat</source>
            <translation>新对话</translation>
        </message>
        <message>
            <location filename="../../app/controllers/storage_controller.py"></location>
            <source>Attached: {names}</source>
            <translation>附件：{names}</translation>
        </message>
        <message>
            <location filename="../../app/controllers/tool_chooser.py"></location>
            <source>Teams don't use tools</source>
            <translation>团队不使用工具</translation>
        </message>
        <message>
            <location filename="../../app/controllers/tool_chooser.py"></location>
            <source>{model} can't use tools: its family has no form for tool calls</source>
            <translation>{model} 不能使用工具：该系列没有工具调用的格式</translation>
        </message>
        <message>
            <location filename="../../app/controllers/tool_chooser.py"></location>
            <source>Tools would fill this model's context. Turn some off.</source>
            <translation>工具会占满此模型的上下文。请关闭一些工具。</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/controllers/tool_chooser.py"></location>
            <source>%n tools for this chat</source>
            <translation>
                <numerusform>此对话可用 %n 个工具</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/controllers/tool_chooser.py"></location>
            <source>%n tools</source>
            <translation>
                <numerusform>%n 个工具</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/controllers/tool_chooser.py"></location>
            <source>not connected</source>
            <translation>未连接</translation>
        </message>
        <message>
            <location filename="../../app/controllers/tool_chooser.py"></location>
            <source>Only the first {count} tools are used</source>
            <translation>只使用前 {count} 个工具</translation>
        </message>
        <message>
            <location filename="../../app/controllers/tool_chooser.py"></location>
            <source>Manage tools…</source>
            <translation>管理工具…</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Chats (*.json *.zip);;All files (*)</source>
            <translation>对话 (*.json *.zip);;所有文件 (*)</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Backup of chats (*.db);;All files (*)</source>
            <translation>对话备份 (*.db);;所有文件 (*)</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Import chats…</source>
            <translation>导入对话…</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Export all chats…</source>
            <translation>导出所有对话…</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Back up chats…</source>
            <translation>备份对话…</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Export chat</source>
            <translation>导出对话</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Chat exported to {file}</source>
            <translation>对话已导出到 {file}</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Export all chats</source>
            <translation>导出所有对话</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>%n chats exported to {file}</source>
            <translation>
                <numerusform>%n 个对话已导出到 {file}</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Import chats</source>
            <translation>导入对话</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>%n chats imported from {file}.</source>
            <translation>
                <numerusform>已从 {file} 导入 %n 个对话。</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>%n more couldn't be read.</source>
            <translation>
                <numerusform>另有 %n 个无法读取。</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Back up chats</source>
            <translation>备份对话</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Chats backed up to {file}</source>
            <translation>对话已备份到 {file}</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>An answer is being generated.</source>
            <translation>正在生成回答。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Stop it, then restore the backup.</source>
            <translation>请先停止，再恢复备份。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Restore backup</source>
            <translation>恢复备份</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Backup restored from {file}.</source>
            <translation>已从 {file} 恢复备份。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Previous chats saved as {file}.</source>
            <translation>原对话保存为 {file}。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>{file} is the app's own chat file.</source>
            <translation>{file} 是应用自己的对话文件。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Choose another name.</source>
            <translation>请换一个名称。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>The disk is full.</source>
            <translation>磁盘已满。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Free some space or choose another disk.</source>
            <translation>请释放一些空间，或选择其他磁盘。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>No permission to use {file}.</source>
            <translation>没有使用 {file} 的权限。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Choose another folder.</source>
            <translation>请选择其他文件夹。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Can't read or write {file}.</source>
            <translation>无法读写 {file}。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Choose another file or folder.</source>
            <translation>请选择其他文件或文件夹。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/tray.py"></location>
            <source>Open Underhill</source>
            <translation>打开 Underhill</translation>
        </message>
        <message>
            <location filename="../../app/controllers/tray.py"></location>
            <source>Quit</source>
            <translation>退出</translation>
        </message>
        <message>
            <location filename="../../app/controllers/tray.py"></location>
            <source>Answer ready</source>
            <translation>回答已完成</translation>
        </message>
        <message>
            <location filename="../../app/controllers/tray.py"></location>
            <source>downloading, {share}</source>
            <translation>正在下载，{share}</translation>
        </message>
        <message>
            <location filename="../../app/controllers/tray.py"></location>
            <source>generating</source>
            <translation>正在生成</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Inter (typeface)</source>
            <translation>Inter（字体）</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>JetBrains Mono (typeface)</source>
            <translation>JetBrains Mono（字体）</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Droid Sans Fallback (typeface)</source>
            <translation>Droid Sans Fallback（字体）</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Icons and the built-in model</source>
            <translation>图标和内置模型</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>part of Underhill</source>
            <translation>Underhill 的一部分</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Chat offline with Mixture-of-Experts models bigger than your memory.</source>
            <translation>在本机离线运行比内存还大的混合专家（MoE）模型。</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>from source</source>
            <translation>源码版本</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Chats and settings: {folder}</source>
            <translation>对话与设置：{folder}</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Versions and folders</source>
            <translation>版本与文件夹</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Components and licenses</source>
            <translation>组件与许可证</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Components</source>
            <translation>组件</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Version</source>
            <translation>版本</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>License</source>
            <translation>许可证</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Copy details</source>
            <translation>复制详情</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>see the package</source>
            <translation>见软件包</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>privacy.md</source>
            <comment>name of the file with the page about privacy</comment>
            <translation>privacy.zh_CN.md</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>What Underhill sends, and to whom</source>
            <translation>Underhill 发送什么、发给谁</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Unsaved chats</source>
            <translation>有内容尚未保存</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Unsaved text</source>
            <translation>未保存的内容</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Copy unsaved text</source>
            <translation>复制未保存的内容</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>This will be lost. Copy it or free disk space:</source>
            <translation>以下内容将会丢失。复制它，或释放磁盘空间：</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Quit anyway</source>
            <translation>仍然退出</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Copied</source>
            <translation>已复制</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Trash</source>
            <translation>回收站</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Deleted chats</source>
            <translation>已删除的对话</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Delete all permanently</source>
            <translation>全部永久删除</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Delete permanently</source>
            <translation>永久删除</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Restore</source>
            <translation>恢复</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Deleted chats are kept for {days} days.</source>
            <translation>已删除的对话会保留 {days} 天。</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Trash is empty</source>
            <translation>回收站为空</translation>
        </message>
        <message>
            <location filename="../../app/export/export_chats.py"></location>
            <source>Chat</source>
            <translation>对话</translation>
        </message>
        <message>
            <location filename="../../app/export/export_chats.py"></location>
            <source>You</source>
            <translation>你</translation>
        </message>
        <message>
            <location filename="../../app/export/export_chats.py"></location>
            <source>Answer</source>
            <translation>回答</translation>
        </message>
        <message>
            <location filename="../../app/export/import_chats.py"></location>
            <source>[image]</source>
            <translation>[图片]</translation>
        </message>
        <message>
            <location filename="../../app/export/import_chats.py"></location>
            <source>{file} comes from another version of Underhill.</source>
            <translation>{file} 来自其他版本的 Underhill。</translation>
        </message>
        <message>
            <location filename="../../app/export/import_chats.py"></location>
            <source>Install a newer version, then import it there.</source>
            <translation>请安装更新的版本，然后在其中导入。</translation>
        </message>
        <message>
            <location filename="../../app/export/import_chats.py"></location>
            <source>A chat in {file} is too long.</source>
            <translation>{file} 中有一个对话过长。</translation>
        </message>
        <message>
            <location filename="../../app/export/import_chats.py"></location>
            <source>Export fewer chats at a time, or leave that chat out.</source>
            <translation>每次导出少一些对话，或不导出那个对话。</translation>
        </message>
        <message>
            <location filename="../../app/export/import_chats.py"></location>
            <source>No readable chats in {file}.</source>
            <translation>{file} 中没有可读取的对话。</translation>
        </message>
        <message>
            <location filename="../../app/export/import_chats.py"></location>
            <source>Choose a JSON file exported by Underhill or ChatGPT (conversations.json or its ZIP).</source>
            <translation>选择由 Underhill 或 ChatGPT 导出的 JSON 文件（conversations.json 或其 ZIP）。</translation>
        </message>
        <message>
            <location filename="../../app/i18n/languages.py"></location>
            <source>d MMMM yyyy, HH:mm</source>
            <comment>a date and time, in the letters of Qt's QLocale</comment>
            <translation>yyyy年M月d日 HH:mm</translation>
        </message>
        <message>
            <location filename="../../app/i18n/languages.py"></location>
            <source>d MMMM</source>
            <comment>a date, in the letters of Qt's QLocale</comment>
            <translation>M月d日</translation>
        </message>
        <message>
            <location filename="../../app/i18n/languages.py"></location>
            <source>d MMM yyyy</source>
            <comment>a date, in the letters of Qt's QLocale</comment>
            <translation>yyyy年M月d日</translation>
        </message>
        <message>
            <location filename="../../app/i18n/languages.py"></location>
            <source>MMMM yyyy</source>
            <comment>a date, in the letters of Qt's QLocale</comment>
            <translation>yyyy年M月</translation>
        </message>
        <message>
            <location filename="../../app/i18n/languages.py"></location>
            <source>MMMM</source>
            <comment>a date, in the letters of Qt's QLocale</comment>
            <translation>M月</translation>
        </message>
        <message>
            <location filename="../../app/images/files.py"></location>
            <source>Save image</source>
            <translation>保存图片</translation>
        </message>
        <message>
            <location filename="../../app/images/files.py"></location>
            <source>Can't save {file}: {error}. Choose another folder.</source>
            <translation>无法保存 {file}：{error}。选择其他文件夹。</translation>
        </message>
        <message>
            <location filename="../../app/images/reading.py"></location>
            <source>{file} is too large ({size} MB).</source>
            <translation>{file} 过大（{size} MB）。</translation>
        </message>
        <message>
            <location filename="../../app/images/reading.py"></location>
            <source>Attach a smaller image.</source>
            <translation>添加较小的图片。</translation>
        </message>
        <message>
            <location filename="../../app/images/reading.py"></location>
            <source>Reading {file} took too long.</source>
            <translation>读取 {file} 耗时过长。</translation>
        </message>
        <message>
            <location filename="../../app/images/reading.py"></location>
            <source>Reading {file} needs too much memory.</source>
            <translation>读取 {file} 所需内存过多。</translation>
        </message>
        <message>
            <location filename="../../app/images/reading.py"></location>
            <source>{file} has too many pixels ({width} × {height}).</source>
            <translation>{file} 像素过多（{width} × {height}）。</translation>
        </message>
        <message>
            <location filename="../../app/images/reading.py"></location>
            <source>Can't read {file} as an image.</source>
            <translation>无法将 {file} 作为图片读取。</translation>
        </message>
        <message>
            <location filename="../../app/images/reading.py"></location>
            <source>Save it as PNG or JPEG, then attach it.</source>
            <translation>将其存为 PNG 或 JPEG 后再添加。</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>16-bit – original</source>
            <translation>16 位：原始精度</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>8-bit – practically lossless</source>
            <translation>8 位：几乎无损</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>4-bit – nearly as good, half the size</source>
            <translation>4 位：效果接近，体积减半</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>2-bit – smallest, noticeably less precise</source>
            <translation>2 位：体积最小，精度明显下降</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>4-bit – unchanged</source>
            <translation>4 位：与下载的完全相同</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>0.5%</source>
            <translation>0.5%</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>1%</source>
            <translation>1%</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>2% – default</source>
            <translation>2%（默认）</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>5% – smallest</source>
            <translation>5%（最小）</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Automatic – 8-bit, or 4-bit where the model is stored that way</source>
            <translation>自动：8 位；模型本来以 4 位存储时为 4 位</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>16-bit – original, for small models</source>
            <translation>16 位：原始精度，适合小模型</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Downloaded</source>
            <translation>已下载</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Download</source>
            <translation>下载</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>{size} on disk</source>
            <translation>占用 {size}</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Open</source>
            <translation>打开</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>{size} download</source>
            <translation>下载 {size}</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Original, unquantized</source>
            <translation>未量化的原始模型</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Other quantizations (GGUF)</source>
            <translation>其他量化版本（GGUF）</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/library/dialogs.py"></location>
            <source>%n files</source>
            <translation>
                <numerusform>%n 个文件</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>files not listed: offline</source>
            <translation>离线，未列出文件</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Show files</source>
            <translation>显示文件</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/library/dialogs.py"></location>
            <source>and %n more</source>
            <translation>
                <numerusform>以及另外 %n 个</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Hide files</source>
            <translation>收起文件</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>{tokens:,}-token context</source>
            <translation>{tokens:,} 词元上下文</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>{layers} layers × {experts} experts, {active} active</source>
            <translation>{layers} 层 × {experts} 个专家，每次激活 {active} 个</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Shrink</source>
            <translation>缩小</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Shrink {model}</source>
            <translation>缩小 {model}</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>The least important experts are stored at 2-bit or 4-bit: less memory, faster answers, a small loss of quality. Measuring it can take a while. Chats pause while measuring.</source>
            <translation>最不重要的专家改用 2 位或 4 位存储：占用内存更少、回答更快，质量略有损失。测量可能需要一些时间，期间对话会暂停。</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Maximum quality loss</source>
            <translation>质量损失上限</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Progress of {title}</source>
            <translation>{title} 的进度</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Measure</source>
            <translation>测量</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>No expert can be reduced within this limit. Allow more loss.</source>
            <translation>在此上限内没有专家可以缩小。可放宽上限。</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Experts: {before} → {after}</source>
            <translation>专家：{before} → {after}</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Precision: {shares}</source>
            <translation>精度：{shares}</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Quality loss: {loss} (limit {limit}), measured on {tokens} tokens</source>
            <translation>质量损失：{loss}（上限 {limit}），在 {tokens} 词元上测得</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Needs {needed} of disk space ({free} free). The original moves to the trash.</source>
            <translation>需要 {needed} 磁盘空间（剩余 {free}）。原模型会移到回收站。</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Shared weights: {bits}-bit, {before} → {after} in memory</source>
            <translation>共享权重：{bits} 位，内存 {before} → {after}</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>KL {kl} vs. full precision</source>
            <translation>与全精度相差 KL {kl}</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Import model</source>
            <translation>导入模型</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Makes a converted copy; the original stays. You can keep chatting.</source>
            <translation>生成转换后的副本，原文件不变。可继续对话。</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Name</source>
            <translation>名称</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Precision</source>
            <translation>精度</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Maximum quality loss: {loss}</source>
            <translation>质量损失上限：{loss}</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>No</source>
            <translation>不缩小</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Stores the least important experts at 2-bit or 4-bit. Measured after the import.</source>
            <translation>最不重要的专家用 2 位或 4 位存储。导入完成后测量。</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>From</source>
            <translation>来源</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Import</source>
            <translation>导入</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>A model with this name exists</source>
            <translation>已有同名的模型</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Discover</source>
            <translation>发现模型</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Search models</source>
            <translation>搜索模型</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Sort by</source>
            <translation>排序</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Show more</source>
            <translation>显示更多</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Open settings</source>
            <translation>打开设置</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Recommended</source>
            <translation>推荐</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>More results</source>
            <translation>更多结果</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>No models with these filters</source>
            <translation>没有符合筛选条件的模型</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Searching…</source>
            <translation>正在查找…</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/library/discover.py"></location>
            <source>%n results</source>
            <translation>
                <numerusform>%n 个结果</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Loading models…</source>
            <translation>正在加载模型…</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>No models</source>
            <translation>没有模型</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>No supported models for “{words}” (MoE only)</source>
            <translation>没有与“{words}”匹配的 MoE 模型</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Details</source>
            <translation>详情</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>From other apps</source>
            <translation>其他应用</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Find models</source>
            <translation>查找模型</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Find again</source>
            <translation>重新查找</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/library/discover.py"></location>
            <source>%n found so far</source>
            <translation>
                <numerusform>已找到 %n 个</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Import models from Hugging Face, LM Studio or Ollama, no download needed</source>
            <translation>导入 Hugging Face、LM Studio、Ollama 的模型，无需下载</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>No supported models from other apps found</source>
            <translation>没有找到其他应用的可用模型</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Import…</source>
            <translation>导入…</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoint_editor.py"></location>
            <source>Edit endpoint</source>
            <translation>编辑端点</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoint_editor.py"></location>
            <source>Add endpoint</source>
            <translation>添加端点</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoint_editor.py"></location>
            <source>My workstation</source>
            <translation>我的工作站</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoint_editor.py"></location>
            <source>Address</source>
            <translation>地址</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoint_editor.py"></location>
            <source>Key</source>
            <translation>密钥</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoint_editor.py"></location>
            <source>Remove the key</source>
            <translation>移除密钥</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoint_editor.py"></location>
            <source>Model</source>
            <translation>模型</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoint_editor.py"></location>
            <source>Certificate authority</source>
            <translation>证书颁发机构</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoint_editor.py"></location>
            <source>Empty: those of the system</source>
            <translation>留空：使用系统的证书</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoint_editor.py"></location>
            <source>Choose…</source>
            <translation>选择…</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoint_editor.py"></location>
            <source>Choose certificate file</source>
            <translation>选择证书文件</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoint_editor.py"></location>
            <source>Test connection</source>
            <translation>测试连接</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoint_editor.py"></location>
            <source>Any server with OpenAI's API can answer: vLLM, SGLang, llama.cpp and others.</source>
            <translation>任何提供 OpenAI API 的服务器都可以回答：vLLM、SGLang、llama.cpp 等。</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoint_editor.py"></location>
            <source>Key, if it needs one</source>
            <translation>密钥（如果需要）</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoint_editor.py"></location>
            <source>Certificate authority of its own (PEM file)</source>
            <translation>自有的证书颁发机构（PEM 文件）</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoint_editor.py"></location>
            <source>Save</source>
            <translation>保存</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/library/endpoint_editor.py"></location>
            <source>%n models</source>
            <translation>
                <numerusform>%n 个模型</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/library/endpoint_editor.py"></location>
            <source>Connected in {time}</source>
            <translation>连接成功，用时 {time}</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoint_editor.py"></location>
            <source>Connecting…</source>
            <translation>正在连接…</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoint_editor.py"></location>
            <source>Kept in the system's keyring</source>
            <translation>保存在系统密钥环中</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoint_editor.py"></location>
            <source>Certificates</source>
            <translation>证书</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoint_editor.py"></location>
            <source>All files</source>
            <translation>所有文件</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoint_editor.py"></location>
            <source>Not encrypted: others in the network can read along. Use https:// outside your own.</source>
            <translation>未加密：网络中的其他人可以读到内容。在自己的网络之外使用 https://。</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoints.py"></location>
            <source>Endpoints</source>
            <translation>端点</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoints.py"></location>
            <source>An endpoint is a server on another computer that answers like a model. Messages are sent there.</source>
            <translation>端点是另一台电脑上的服务器，像模型一样回答。消息会发送到那里。</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoints.py"></location>
            <source>Add endpoint…</source>
            <translation>添加端点…</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoints.py"></location>
            <source>No endpoints yet</source>
            <translation>还没有端点</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoints.py"></location>
            <source>Edit</source>
            <translation>编辑</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoints.py"></location>
            <source>Delete</source>
            <translation>删除</translation>
        </message>
        <message>
            <location filename="../../app/library/endpoints.py"></location>
            <source>{name} deleted</source>
            <translation>已删除“{name}”</translation>
        </message>
        <message>
            <location filename="../../app/library/entries.py"></location>
            <source>{pill}: {reason}</source>
            <translation>{pill}：{reason}</translation>
        </message>
        <message>
            <location filename="../../app/library/entries.py"></location>
            <source>New name of {title}</source>
            <translation>{title} 的新名称</translation>
        </message>
        <message>
            <location filename="../../app/library/entries.py"></location>
            <source>{deed}: {title}</source>
            <translation>{deed}：{title}</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>My models</source>
            <translation>我的模型</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Discover models</source>
            <translation>发现模型</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>In use</source>
            <translation>使用中</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>No models yet</source>
            <translation>还没有模型</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Built-in model</source>
            <translation>内置模型</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Folder not connected</source>
            <translation>文件夹未连接</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Rename</source>
            <translation>重命名</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Verify files</source>
            <translation>校验文件</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Add another folder first</source>
            <translation>先添加另一个文件夹</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Move to folder</source>
            <translation>移到文件夹</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Show in folder</source>
            <translation>打开所在文件夹</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Another job is running</source>
            <translation>另一项任务正在进行</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Restore original</source>
            <translation>恢复原模型</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Shrink…</source>
            <translation>缩小…</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Model folders</source>
            <translation>模型文件夹</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Add folder…</source>
            <translation>添加文件夹…</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Empty trash</source>
            <translation>清空回收站</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Save new models here</source>
            <translation>新模型保存到此处</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Remove from list</source>
            <translation>从列表移除</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>default</source>
            <translation>默认</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>{size} of models</source>
            <translation>模型 {size}</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>{size} of downloads</source>
            <translation>下载 {size}</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Disk usage of {folder}</source>
            <translation>{folder} 所在磁盘的使用情况</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>kept until {date}</source>
            <translation>保留至 {date}</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Empty trash?</source>
            <translation>清空回收站？</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Deleted models are removed permanently. This frees {amount}.</source>
            <translation>已删除的模型将被永久移除，可释放 {amount}。</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>{free} of {total} free</source>
            <translation>可用 {free}，共 {total}</translation>
        </message>
        <message>
            <location filename="../../app/library/model_filters.py"></location>
            <source>Best first</source>
            <translation>推荐优先</translation>
        </message>
        <message>
            <location filename="../../app/library/model_filters.py"></location>
            <source>Fastest</source>
            <translation>最快</translation>
        </message>
        <message>
            <location filename="../../app/library/model_filters.py"></location>
            <source>Smallest download</source>
            <translation>下载最小</translation>
        </message>
        <message>
            <location filename="../../app/library/model_filters.py"></location>
            <source>Most parameters</source>
            <translation>参数最多</translation>
        </message>
        <message>
            <location filename="../../app/library/model_filters.py"></location>
            <source>Any fit</source>
            <translation>不限运行方式</translation>
        </message>
        <message>
            <location filename="../../app/library/model_filters.py"></location>
            <source>Runs on this computer</source>
            <translation>适合这台电脑</translation>
        </message>
        <message>
            <location filename="../../app/library/model_filters.py"></location>
            <source>In memory</source>
            <translation>在内存中</translation>
        </message>
        <message>
            <location filename="../../app/library/model_filters.py"></location>
            <source>Runs from disk</source>
            <translation>从磁盘运行</translation>
        </message>
        <message>
            <location filename="../../app/library/model_filters.py"></location>
            <source>Fit</source>
            <translation>适配</translation>
        </message>
        <message>
            <location filename="../../app/library/model_filters.py"></location>
            <source>Size</source>
            <translation>大小</translation>
        </message>
        <message>
            <location filename="../../app/library/model_filters.py"></location>
            <source>Any size</source>
            <translation>不限大小</translation>
        </message>
        <message>
            <location filename="../../app/library/model_filters.py"></location>
            <source>Any use</source>
            <translation>不限用途</translation>
        </message>
        <message>
            <location filename="../../app/library/model_filters.py"></location>
            <source>Images</source>
            <translation>图片</translation>
        </message>
        <message>
            <location filename="../../app/library/model_filters.py"></location>
            <source>Code</source>
            <translation>代码</translation>
        </message>
        <message>
            <location filename="../../app/library/model_filters.py"></location>
            <source>Good at</source>
            <translation>擅长</translation>
        </message>
        <message>
            <location filename="../../app/library/model_filters.py"></location>
            <source>Maker</source>
            <translation>开发者</translation>
        </message>
        <message>
            <location filename="../../app/library/model_filters.py"></location>
            <source>Any maker</source>
            <translation>不限开发者</translation>
        </message>
        <message>
            <location filename="../../app/library/model_filters.py"></location>
            <source>Any license</source>
            <translation>不限许可证</translation>
        </message>
        <message>
            <location filename="../../app/library/model_filters.py"></location>
            <source>Clear filters</source>
            <translation>清除筛选</translation>
        </message>
        <message>
            <location filename="../../app/library/model_filters.py"></location>
            <source>Below {high}B</source>
            <translation>{high}B 以下</translation>
        </message>
        <message>
            <location filename="../../app/library/model_filters.py"></location>
            <source>{low}B–{high}B</source>
            <translation>{low}B–{high}B</translation>
        </message>
        <message>
            <location filename="../../app/library/model_filters.py"></location>
            <source>{low}B and more</source>
            <translation>{low}B 及以上</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>Slow</source>
            <translation>较慢</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>Not checked</source>
            <translation>未检查</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>Too large</source>
            <translation>过大</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>From disk</source>
            <translation>磁盘运行</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>thinking</source>
            <translation>思考</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>reads images</source>
            <translation>可读取图片</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>code</source>
            <translation>代码</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>Downloading</source>
            <translation>下载中</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>Paused</source>
            <translation>已暂停</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>Failed</source>
            <translation>失败</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>{total} params</source>
            <translation>{total} 参数</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>{total} params ({active} active)</source>
            <translation>{total} 参数（激活 {active}）</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>{bits}-bit experts</source>
            <translation>专家精度 {bits} 位</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>{bits}-bit shared weights</source>
            <translation>{bits} 位共享权重</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>experts: {shares}</source>
            <translation>专家：{shares}</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>quality loss: {loss}</source>
            <translation>质量损失：{loss}</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>{rate} tok/s measured here</source>
            <translation>本机实测 {rate} tok/s</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>Verified on {date}: all files OK</source>
            <translation>{date} 校验：文件完好</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/library/model_text.py"></location>
            <source>%n parts are damaged</source>
            <translation>
                <numerusform>%n 处损坏</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>Verified on {date}: {damaged}</source>
            <translation>{date} 校验：{damaged}</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>{share} {bits}-bit</source>
            <translation>{share} 为 {bits} 位</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>, </source>
            <translation>，</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>License: {licence}</source>
            <translation>许可证：{licence}</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>Sign-in required</source>
            <translation>需要登录</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>{size} download as {form} (original: {whole})</source>
            <translation>下载 {size}（{form}，原始 {whole}）</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>From {app}</source>
            <translation>来自 {app}</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>{size}/s</source>
            <translation>{size}/s</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>Open on Hugging Face</source>
            <translation>在 Hugging Face 打开</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>Open web page</source>
            <translation>打开网页</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>Recommended: fastest</source>
            <translation>推荐：最快</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>Recommended: best answers at reading speed</source>
            <translation>推荐：质量最佳且流畅</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>Smaller and faster</source>
            <translation>更小、更快</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>Larger and slower</source>
            <translation>更大、更慢</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>Offline mode is on.</source>
            <translation>离线模式已开启。</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>None of the {known} recommended models runs well here. The built-in one does.</source>
            <translation>{known} 个推荐模型都不适合这台电脑，内置模型可以正常运行。</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>{fit} of {known} recommended models run well here</source>
            <translation>{known} 个推荐模型中有 {fit} 个能流畅运行</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>about {minutes} min at 50 Mbit/s</source>
            <translation>以 50 Mbit/s 约需 {minutes} 分钟</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>about {hours:.1f} h at 50 Mbit/s</source>
            <translation>以 50 Mbit/s 约需 {hours:.1f} 小时</translation>
        </message>
        <message>
            <location filename="../../app/library/page.py"></location>
            <source>No downloads yet</source>
            <translation>还没有下载</translation>
        </message>
        <message>
            <location filename="../../app/library/page.py"></location>
            <source>Pause</source>
            <translation>暂停</translation>
        </message>
        <message>
            <location filename="../../app/library/page.py"></location>
            <source>Remove</source>
            <comment>a download that is done</comment>
            <translation>移除</translation>
        </message>
        <message>
            <location filename="../../app/library/page.py"></location>
            <source>Cancel the download of {model}?</source>
            <translation>取消下载 {model}？</translation>
        </message>
        <message>
            <location filename="../../app/library/page.py"></location>
            <source>The {amount} downloaded so far will be deleted.</source>
            <translation>已下载的 {amount} 将被删除。</translation>
        </message>
        <message>
            <location filename="../../app/library/page.py"></location>
            <source>Cancel download</source>
            <translation>取消下载</translation>
        </message>
        <message>
            <location filename="../../app/library/page.py"></location>
            <source>Models</source>
            <translation>模型</translation>
        </message>
        <message>
            <location filename="../../app/library/page.py"></location>
            <source>Teams</source>
            <translation>团队</translation>
        </message>
        <message>
            <location filename="../../app/library/page.py"></location>
            <source>Downloads ({count})</source>
            <translation>下载（{count}）</translation>
        </message>
        <message>
            <location filename="../../app/library/page.py"></location>
            <source>Downloads ({count} failed)</source>
            <translation>下载（{count} 个失败）</translation>
        </message>
        <message>
            <location filename="../../app/library/teams.py"></location>
            <source>A team answers in steps. Each step asks a model, and can have conditions.</source>
            <translation>团队分步回答。每一步询问一个模型，并可设置条件。</translation>
        </message>
        <message>
            <location filename="../../app/library/teams.py"></location>
            <source>New team…</source>
            <translation>新建团队…</translation>
        </message>
        <message>
            <location filename="../../app/library/teams.py"></location>
            <source>Import team…</source>
            <translation>导入团队…</translation>
        </message>
        <message>
            <location filename="../../app/library/teams.py"></location>
            <source>No teams</source>
            <translation>没有团队</translation>
        </message>
        <message>
            <location filename="../../app/library/teams.py"></location>
            <source>Duplicate</source>
            <translation>复制为新团队</translation>
        </message>
        <message>
            <location filename="../../app/library/teams.py"></location>
            <source>Export…</source>
            <translation>导出…</translation>
        </message>
        <message>
            <location filename="../../app/library/teams.py"></location>
            <source>Step {number}</source>
            <translation>步骤 {number}</translation>
        </message>
        <message>
            <location filename="../../app/library/teams.py"></location>
            <source>New team</source>
            <translation>新团队</translation>
        </message>
        <message>
            <location filename="../../app/library/teams.py"></location>
            <source>remote server</source>
            <translation>远程服务器</translation>
        </message>
        <message>
            <location filename="../../app/library/teams.py"></location>
            <source>{name} restored</source>
            <translation>{name} 已恢复</translation>
        </message>
        <message>
            <location filename="../../app/library/teams.py"></location>
            <source>Import team</source>
            <translation>导入团队</translation>
        </message>
        <message>
            <location filename="../../app/library/teams.py"></location>
            <source>{name} imported</source>
            <translation>已导入“{name}”</translation>
        </message>
        <message>
            <location filename="../../app/library/teams.py"></location>
            <source>Export team</source>
            <translation>导出团队</translation>
        </message>
        <message>
            <location filename="../../app/library/teams.py"></location>
            <source>{name} exported</source>
            <translation>已导出“{name}”</translation>
        </message>
        <message>
            <location filename="../../app/library/view_model.py"></location>
            <source>Verifying {model}…</source>
            <translation>正在校验 {model}…</translation>
        </message>
        <message>
            <location filename="../../app/library/view_model.py"></location>
            <source>Moving {model}…</source>
            <translation>正在移动 {model}…</translation>
        </message>
        <message>
            <location filename="../../app/library/view_model.py"></location>
            <source>Shrinking {model}…</source>
            <translation>正在缩小 {model}…</translation>
        </message>
        <message>
            <location filename="../../app/library/view_model.py"></location>
            <source>Restoring {model}…</source>
            <translation>正在恢复 {model}…</translation>
        </message>
        <message>
            <location filename="../../app/library/view_model.py"></location>
            <source>{model} restored</source>
            <translation>{model} 已恢复原样</translation>
        </message>
        <message>
            <location filename="../../app/library/view_model.py"></location>
            <source>Importing {model}…</source>
            <translation>正在导入 {model}…</translation>
        </message>
        <message>
            <location filename="../../app/library/view_model.py"></location>
            <source>Waiting…</source>
            <translation>正在等待…</translation>
        </message>
        <message>
            <location filename="../../app/library/view_model.py"></location>
            <source>{model} is damaged.</source>
            <translation>{model} 已损坏。</translation>
        </message>
        <message>
            <location filename="../../app/library/view_model.py"></location>
            <source>{model}: all files OK</source>
            <translation>{model}：文件完好</translation>
        </message>
        <message>
            <location filename="../../app/library/view_model.py"></location>
            <source>{model} moved to {folder}</source>
            <translation>{model} 已移到 {folder}</translation>
        </message>
        <message>
            <location filename="../../app/local_server.py"></location>
            <source>This key works until you close the app.</source>
            <translation>此密钥在你关闭应用之前有效。</translation>
        </message>
        <message>
            <location filename="../../app/local_server.py"></location>
            <source>The local server has stopped because of an error.</source>
            <translation>本地服务器因出错而停止。</translation>
        </message>
        <message>
            <location filename="../../app/local_server.py"></location>
            <source>Turn it on again.</source>
            <translation>再次开启它。</translation>
        </message>
        <message>
            <location filename="../../app/main.py"></location>
            <source>The app closed unexpectedly last time.</source>
            <translation>应用上次意外关闭。</translation>
        </message>
        <message>
            <location filename="../../app/main.py"></location>
            <source>Your chats are safe. Details are in {file}.</source>
            <translation>你的对话没有丢失。详情见 {file}。</translation>
        </message>
        <message>
            <location filename="../../app/main.py"></location>
            <source>The engine stopped unexpectedly last time.</source>
            <translation>引擎上次意外停止。</translation>
        </message>
        <message>
            <location filename="../../app/main.py"></location>
            <source>Details are in {file}.</source>
            <translation>详情见 {file}。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Underhill runs large chat models on this computer, even ones bigger than its memory.</source>
            <translation>Underhill 在这台电脑上运行大型对话模型，即使模型比内存还大。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Your chats, files and measurements stay here. Nothing is sent unless you ask for it, for example to download a model.</source>
            <translation>对话、文件和测量结果都留在本机。只有在你要求时（例如下载模型）才会发送内容。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>A small built-in model lets you start right away. The next two pages find a better one for this computer.</source>
            <translation>内置的小模型可以立即使用。接下来两页为这台电脑找到更好的模型。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Check this computer</source>
            <translation>检查这台电脑</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Done</source>
            <translation>完成</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>This computer</source>
            <translation>这台电脑</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Measures memory, disk and processor to tell which models run well.</source>
            <translation>测量内存、磁盘和处理器的速度，判断哪些模型能流畅运行。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>About 15 seconds, once. You can continue meanwhile.</source>
            <translation>约 15 秒，只需一次。可以先继续。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Measurement progress</source>
            <translation>测量进度</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Measure again</source>
            <translation>重新测量</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Show figures</source>
            <translation>显示数据</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Hide figures</source>
            <translation>收起数据</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Paused while an answer is generated</source>
            <translation>生成回答期间暂停</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/onboarding.py"></location>
            <source>{name}, %n cores</source>
            <translation>
                <numerusform>{name}，%n 核</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>On battery: may be slower.</source>
            <translation>正在使用电池，可能较慢。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>{limit} of memory, {free} free</source>
            <translation>内存 {limit}，可用 {free}</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Models that fit in memory run fastest.</source>
            <translation>能放进内存的模型运行最快。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>{name}, {size} of GPU memory. Used beside the CPU where that is faster.</source>
            <translation>{name}，{size} 显存。在更快时与 CPU 一起使用。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>{free} free on disk</source>
            <translation>磁盘剩余 {free}</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>{amount}/s</source>
            <translation>{amount}/s</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Fast disk ({speed}): runs models much bigger than memory.</source>
            <translation>磁盘很快（{speed}）：可运行比内存大得多的模型。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Medium disk ({speed}): runs models somewhat bigger than memory.</source>
            <translation>磁盘速度中等（{speed}）：可运行比内存略大的模型。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Slow disk ({speed}): choose models that fit in memory.</source>
            <translation>磁盘较慢（{speed}）：选择能放进内存的模型。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Already have a model? Import it, no network needed.</source>
            <translation>已有模型？可直接导入，无需联网。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Offline mode is on. The built-in model and imported models work.</source>
            <translation>离线模式已开启。内置模型和导入的模型可以使用。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Checking which models run well… The built-in one is ready.</source>
            <translation>正在检查适合的模型… 内置模型已就绪。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>No listed model suits this computer now. The built-in one does.</source>
            <translation>列表中的模型目前都不适合这台电脑，内置模型可以使用。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>You can chat with the built-in model while a download runs.</source>
            <translation>下载期间可以先用内置模型对话。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Start chatting</source>
            <translation>开始对话</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>{amount} download, {time}</source>
            <translation>下载 {amount}，{time}</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>{amount} on disk</source>
            <translation>占用 {amount}</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Built in</source>
            <translation>内置</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Back</source>
            <translation>上一步</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Skip</source>
            <translation>跳过</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>{number} of {count}</source>
            <translation>第 {number} 步，共 {count} 步</translation>
        </message>
        <message>
            <location filename="../../app/platform/files.py"></location>
            <source>Only web and mail links can be opened, not {link}</source>
            <translation>只能打开网页和邮件链接，无法打开 {link}</translation>
        </message>
        <message>
            <location filename="../../app/platform/files.py"></location>
            <source>No app can open {link}</source>
            <translation>没有能打开 {link} 的程序</translation>
        </message>
        <message>
            <location filename="../../app/prompts/dialog.py"></location>
            <source>Prompts</source>
            <translation>提示词</translation>
        </message>
        <message>
            <location filename="../../app/prompts/dialog.py"></location>
            <source>Type / in an empty message to insert a prompt. You'll be asked for variables such as {example}.</source>
            <translation>在空消息中输入 / 可插入提示词。插入时会让你填写 {example} 这样的变量。</translation>
        </message>
        <message>
            <location filename="../../app/prompts/dialog.py"></location>
            <source>New prompt</source>
            <translation>新提示词</translation>
        </message>
        <message>
            <location filename="../../app/prompts/dialog.py"></location>
            <source>Delete…</source>
            <translation>删除…</translation>
        </message>
        <message>
            <location filename="../../app/prompts/dialog.py"></location>
            <source>Text of the prompt</source>
            <translation>提示词内容</translation>
        </message>
        <message>
            <location filename="../../app/prompts/dialog.py"></location>
            <source>Asks for: {names}</source>
            <translation>变量：{names}</translation>
        </message>
        <message>
            <location filename="../../app/prompts/dialog.py"></location>
            <source>There is another prompt with this name.</source>
            <translation>已有同名的提示词。</translation>
        </message>
        <message>
            <location filename="../../app/prompts/dialog.py"></location>
            <source>New prompt {number}</source>
            <translation>新提示词 {number}</translation>
        </message>
        <message>
            <location filename="../../app/prompts/dialog.py"></location>
            <source>Delete the prompt {name}?</source>
            <translation>删除提示词 {name}？</translation>
        </message>
        <message>
            <location filename="../../app/prompts/dialog.py"></location>
            <source>It can't be restored.</source>
            <translation>删除后无法恢复。</translation>
        </message>
        <message>
            <location filename="../../app/prompts/dialog.py"></location>
            <source>Import prompts</source>
            <translation>导入提示词</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/prompts/dialog.py"></location>
            <source>%n prompts imported</source>
            <translation>
                <numerusform>已导入 %n 条提示词</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/prompts/dialog.py"></location>
            <source>Export prompts</source>
            <translation>导出提示词</translation>
        </message>
        <message>
            <location filename="../../app/prompts/library.py"></location>
            <source>{file} is not a file of prompts.</source>
            <translation>{file} 不是提示词文件。</translation>
        </message>
        <message>
            <location filename="../../app/prompts/library.py"></location>
            <source>Choose a file that was exported here.</source>
            <translation>选择从这里导出的文件。</translation>
        </message>
        <message>
            <location filename="../../app/prompts/picker.py"></location>
            <source>Insert</source>
            <translation>插入</translation>
        </message>
        <message>
            <location filename="../../app/prompts/picker.py"></location>
            <source>Fill in the prompt</source>
            <translation>填写提示词</translation>
        </message>
        <message>
            <location filename="../../app/prompts/picker.py"></location>
            <source>Edit prompts…</source>
            <translation>编辑提示词…</translation>
        </message>
        <message>
            <location filename="../../app/recordings/charts.py"></location>
            <source>Best possible</source>
            <translation>理论最佳</translation>
        </message>
        <message>
            <location filename="../../app/recordings/charts.py"></location>
            <source>Lower bound</source>
            <translation>下限</translation>
        </message>
        <message>
            <location filename="../../app/recordings/charts.py"></location>
            <source>Attention</source>
            <translation>注意力</translation>
        </message>
        <message>
            <location filename="../../app/recordings/charts.py"></location>
            <source>Experts</source>
            <translation>专家</translation>
        </message>
        <message>
            <location filename="../../app/recordings/charts.py"></location>
            <source>Waiting time</source>
            <translation>等待</translation>
        </message>
        <message>
            <location filename="../../app/recordings/charts.py"></location>
            <source>Disk reads</source>
            <translation>磁盘读取</translation>
        </message>
        <message>
            <location filename="../../app/recordings/charts.py"></location>
            <source>On demand</source>
            <translation>按需</translation>
        </message>
        <message>
            <location filename="../../app/recordings/charts.py"></location>
            <source>Precision upgrade</source>
            <translation>精度提升</translation>
        </message>
        <message>
            <location filename="../../app/recordings/charts.py"></location>
            <source>Prefetched</source>
            <translation>预取</translation>
        </message>
        <message>
            <location filename="../../app/recordings/charts.py"></location>
            <source>Cache policies by cache size</source>
            <translation>各缓存大小下的缓存策略</translation>
        </message>
        <message>
            <location filename="../../app/recordings/charts.py"></location>
            <source>Experts kept in memory</source>
            <translation>内存中的专家</translation>
        </message>
        <message>
            <location filename="../../app/recordings/charts.py"></location>
            <source>Seconds of each step</source>
            <translation>每一步的耗时</translation>
        </message>
        <message>
            <location filename="../../app/recordings/charts.py"></location>
            <source>Prompt, {count:,} tokens</source>
            <translation>提示词，{count:,} 词元</translation>
        </message>
        <message>
            <location filename="../../app/recordings/charts.py"></location>
            <source>Step {number:,} of {total:,}</source>
            <translation>第 {number:,} 步，共 {total:,} 步</translation>
        </message>
        <message>
            <location filename="../../app/recordings/charts.py"></location>
            <source>{what}: {ms} ms</source>
            <translation>{what}：{ms} 毫秒</translation>
        </message>
        <message>
            <location filename="../../app/recordings/charts.py"></location>
            <source>Timeline of one step</source>
            <translation>单步时间线</translation>
        </message>
        <message>
            <location filename="../../app/recordings/charts.py"></location>
            <source>0 ms</source>
            <translation>0 毫秒</translation>
        </message>
        <message>
            <location filename="../../app/recordings/charts.py"></location>
            <source>{ms} ms</source>
            <translation>{ms} 毫秒</translation>
        </message>
        <message>
            <location filename="../../app/recordings/charts.py"></location>
            <source>{kind}: expert {layer}.{expert}, {size}, {ms} ms</source>
            <translation>{kind}：专家 {layer}.{expert}，{size}，{ms} 毫秒</translation>
        </message>
        <message>
            <location filename="../../app/recordings/charts.py"></location>
            <source>{what}, layer {layer}: {ms} ms</source>
            <translation>{what}，第 {layer} 层：{ms} 毫秒</translation>
        </message>
        <message>
            <location filename="../../app/recordings/controller.py"></location>
            <source>Delete this recording?</source>
            <translation>删除此记录？</translation>
        </message>
        <message>
            <location filename="../../app/recordings/dialog.py"></location>
            <source>Quality</source>
            <translation>质量</translation>
        </message>
        <message>
            <location filename="../../app/recordings/dialog.py"></location>
            <source>As recorded</source>
            <translation>与记录时相同</translation>
        </message>
        <message>
            <location filename="../../app/recordings/dialog.py"></location>
            <source>Shown</source>
            <translation>显示内容</translation>
        </message>
        <message>
            <location filename="../../app/recordings/dialog.py"></location>
            <source>Hit rate</source>
            <translation>命中率</translation>
        </message>
        <message>
            <location filename="../../app/recordings/dialog.py"></location>
            <source>Read from disk</source>
            <translation>磁盘读取</translation>
        </message>
        <message>
            <location filename="../../app/recordings/dialog.py"></location>
            <source>Compare cache policies</source>
            <translation>比较缓存策略</translation>
        </message>
        <message>
            <location filename="../../app/recordings/dialog.py"></location>
            <source>Replaying</source>
            <translation>正在重放</translation>
        </message>
        <message>
            <location filename="../../app/recordings/dialog.py"></location>
            <source>Replays the recording with each cache policy at several cache sizes.</source>
            <translation>用每种缓存策略在几种缓存大小下重放此记录。</translation>
        </message>
        <message>
            <location filename="../../app/recordings/dialog.py"></location>
            <source>HOBBIT uses the weights fitted to this model.</source>
            <translation>HOBBIT 使用为此模型拟合的权重。</translation>
        </message>
        <message>
            <location filename="../../app/recordings/dialog.py"></location>
            <source>{count:,} tokens replayed.</source>
            <translation>已重放 {count:,} 个词元。</translation>
        </message>
        <message>
            <location filename="../../app/recordings/dialog.py"></location>
            <source>{number:.1f}%</source>
            <translation>{number:.1f}%</translation>
        </message>
        <message>
            <location filename="../../app/recordings/dialog.py"></location>
            <source>Time per step</source>
            <translation>每步耗时</translation>
        </message>
        <message>
            <location filename="../../app/recordings/dialog.py"></location>
            <source>Previous</source>
            <translation>上一步</translation>
        </message>
        <message>
            <location filename="../../app/recordings/dialog.py"></location>
            <source>Next</source>
            <translation>下一步</translation>
        </message>
        <message>
            <location filename="../../app/recordings/dialog.py"></location>
            <source>{step}. Attention {layers} ms, experts {experts} ms, waiting {waited} ms. Read: {read}</source>
            <translation>{step}。注意力 {layers} 毫秒，专家 {experts} 毫秒，等待 {waited} 毫秒。读取：{read}</translation>
        </message>
        <message>
            <location filename="../../app/recordings/dialog.py"></location>
            <source>Recordings</source>
            <translation>记录</translation>
        </message>
        <message>
            <location filename="../../app/recordings/dialog.py"></location>
            <source>Record answers to compare cache policies on them and to see what each step read, computed and waited for. Recordings contain the text of those chats.</source>
            <translation>记录回答过程，以比较缓存策略，并查看每一步读取、计算和等待了什么。记录中包含这些对话的文字。</translation>
        </message>
        <message>
            <location filename="../../app/recordings/dialog.py"></location>
            <source>Start recording</source>
            <translation>开始记录</translation>
        </message>
        <message>
            <location filename="../../app/recordings/dialog.py"></location>
            <source>Show folder</source>
            <translation>显示文件夹</translation>
        </message>
        <message>
            <location filename="../../app/recordings/dialog.py"></location>
            <source>No recordings yet. Start one and send a message.</source>
            <translation>还没有记录。开始记录后发送一条消息。</translation>
        </message>
        <message>
            <location filename="../../app/recordings/dialog.py"></location>
            <source>View</source>
            <translation>视图</translation>
        </message>
        <message>
            <location filename="../../app/recordings/dialog.py"></location>
            <source>Cache policies</source>
            <translation>缓存策略</translation>
        </message>
        <message>
            <location filename="../../app/recordings/dialog.py"></location>
            <source>Timeline</source>
            <translation>时间线</translation>
        </message>
        <message>
            <location filename="../../app/recordings/dialog.py"></location>
            <source>Stop recording</source>
            <translation>停止记录</translation>
        </message>
        <message>
            <location filename="../../app/recordings/dialog.py"></location>
            <source>Recording: {count:,} tokens so far</source>
            <translation>正在记录：已有 {count:,} 个词元</translation>
        </message>
        <message>
            <location filename="../../app/recordings/dialog.py"></location>
            <source>Recording starts with the next answer</source>
            <translation>从下一个回答开始记录</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/recordings/dialog.py"></location>
            <source>%n tokens</source>
            <translation>
                <numerusform>%n 词元</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Generation</source>
            <translation>生成</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Applies to the next answer.</source>
            <translation>从下一个回答起生效。</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Performance</source>
            <translation>性能</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>How fast and how precise answers are.</source>
            <translation>回答的速度与精度。</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Memory</source>
            <translation>内存</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>How much memory the app uses.</source>
            <translation>应用使用多少内存。</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Search settings</source>
            <translation>搜索设置</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Settings pages</source>
            <translation>设置页面</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Show advanced</source>
            <translation>高级设置</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Also show settings that few people need</source>
            <translation>同时显示很少用到的设置</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>No matching settings</source>
            <translation>没有匹配的设置</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>All models</source>
            <translation>所有模型</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Models these settings apply to</source>
            <translation>这些设置适用的模型</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Reload the model to apply some changes</source>
            <translation>重新加载模型后应用部分更改</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Reload now</source>
            <translation>立即重新加载</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Reset all…</source>
            <translation>全部重置…</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>measure quality calibrate loss kl speed</source>
            <comment>words of the search</comment>
            <translation>测量 质量 校准 损失 kl 速度</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Recordings…</source>
            <translation>记录…</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>recording trace replay timeline cache policies hit rate</source>
            <comment>words of the search</comment>
            <translation>记录 跟踪 重放 时间线 缓存 策略 命中率</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>threshold t1 t2 scores distribution chart</source>
            <comment>words of the search</comment>
            <translation>阈值 t1 t2 分数 分布 图 threshold</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>memory cache limit ceiling free bar</source>
            <comment>words of the search</comment>
            <translation>内存 缓存 上限 空闲 memory</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Name new chats automatically</source>
            <translation>自动命名新对话</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>The model writes a short title after the first answer, while nothing else is asked of it.</source>
            <translation>第一个回答之后，模型会在空闲时写一个简短的标题。</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>titles names of chats automatic</source>
            <comment>words of the search</comment>
            <translation>标题 名称 对话 自动 命名</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>{model} only</source>
            <translation>仅 {model}</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Models with their own setting:</source>
            <translation>有单独设置的模型：</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>All models: {value}</source>
            <translation>所有模型：{value}</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Reset all settings</source>
            <translation>重置所有设置</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Reset all settings?</source>
            <translation>要重置所有设置吗？</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>All settings return to their defaults, including those for single models. Chats and models stay.</source>
            <translation>所有设置（包括针对单个模型的设置）恢复为默认值。对话和模型会保留。</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Reset all</source>
            <translation>全部重置</translation>
        </message>
        <message>
            <location filename="../../app/settings/editor.py"></location>
            <source>Reload the model to apply.</source>
            <translation>重新加载模型后生效。</translation>
        </message>
        <message>
            <location filename="../../app/settings/editor.py"></location>
            <source>Show related settings</source>
            <translation>显示相关设置</translation>
        </message>
        <message>
            <location filename="../../app/settings/editor.py"></location>
            <source>on</source>
            <comment>a setting</comment>
            <translation>开</translation>
        </message>
        <message>
            <location filename="../../app/settings/editor.py"></location>
            <source>off</source>
            <comment>a setting</comment>
            <translation>关</translation>
        </message>
        <message>
            <location filename="../../app/settings/editor.py"></location>
            <source>Reset {setting}</source>
            <translation>重置“{setting}”</translation>
        </message>
        <message>
            <location filename="../../app/settings/editor.py"></location>
            <source>Reset</source>
            <translation>重置</translation>
        </message>
        <message>
            <location filename="../../app/settings/editor.py"></location>
            <source>Learn more: {setting}</source>
            <translation>了解更多：{setting}</translation>
        </message>
        <message>
            <location filename="../../app/settings/editor.py"></location>
            <source>Learn more</source>
            <translation>了解更多</translation>
        </message>
        <message>
            <location filename="../../app/settings/editor.py"></location>
            <source>Show less</source>
            <translation>收起</translation>
        </message>
        <message>
            <location filename="../../app/settings/editor.py"></location>
            <source>Automatic: {value}</source>
            <translation>自动：{value}</translation>
        </message>
        <message>
            <location filename="../../app/settings/editor.py"></location>
            <source>Only with {setting}: {value}.</source>
            <translation>仅在“{setting}”为“{value}”时有效。</translation>
        </message>
        <message>
            <location filename="../../app/settings/editor.py"></location>
            <source>{name}: slider</source>
            <translation>{name}：滑块</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>Each expert that a token chooses has a score: 0 is most important, 1 least. Experts that are in memory run at the best precision held there; the thresholds decide for those that have to be read from disk.</source>
            <translation>词元选中的每个专家都有一个分数：0 最重要，1 最不重要。内存中的专家按其现有的最高精度运行；需要从磁盘读取的专家由阈值决定。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>At 0 the same question gets the same answer. Around 0.7 suits most chats; above 1.5 most models lose the thread.</source>
            <translation>为 0 时，同样的问题得到同样的回答。0.7 左右适合大多数对话；高于 1.5 时多数模型会语无伦次。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>Lower values avoid unlikely words. At 1 every word can be chosen.</source>
            <translation>较低的值会避开不太可能的词。为 1 时任何词都可能被选中。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>Leave it at 0 unless the model's makers advise a number: Top P and Min P adapt to how sure the model is, a fixed number doesn't.</source>
            <translation>除非模型作者建议了数值，否则保持 0：Top P 和 Min P 会随模型的把握程度调整，固定的数值不会。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>0.05 drops words that are less than 5% as likely as the likeliest. At 0 none are dropped.</source>
            <translation>0.05 会舍弃概率不到最可能词 5% 的词。为 0 时不舍弃。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>Try 1.05 to 1.15 where a model repeats itself. Higher values harm code and lists, which repeat words by nature.</source>
            <translation>模型重复自己时可试 1.05 到 1.15。更高的值会损害本就重复用词的代码和列表。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>Answers are drawn at random. Automatic draws each one differently; with a number, the same question gets the same draws. Under Balanced and Fast the answer can still differ, since experts in memory run more precisely.</source>
            <translation>回答是随机抽取的。自动时每次都不同；设为数字后，同一问题的抽取相同。在“均衡”和“快速”下回答仍可能不同，因为内存中的专家以更高精度运行。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>A token is about three quarters of an English word, so 1,024 tokens are about 750 words. Thinking counts. An answer that reaches the limit can be continued.</source>
            <translation>一个词元约为四分之三个英文单词，1,024 词元约合 750 个单词。思考也计算在内。达到上限的回答可以继续生成。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>Experts that matter little for a token can run at lower precision or be skipped, which saves disk reads. KL is how far answers move from Exact: 0 is no difference, below 0.01 hardly noticeable. Where all experts fit in memory, each quality runs at full precision.</source>
            <translation>对词元影响不大的专家可以以较低精度运行或被跳过，从而减少磁盘读取。KL 表示回答与“精确”的差距：0 为没有差别，低于 0.01 几乎察觉不到。所有专家都在内存中时，每种质量都以全精度运行。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>Fewer bits need less memory and less reading, but every answer loses some quality.</source>
            <translation>位数越少，占用内存和读取越少，但每个回答都会损失一些质量。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>Used by Balanced, Fast and HOBBIT for experts that score between T1 and T2.</source>
            <translation>“均衡”、“快速”和 HOBBIT 对分数在 T1 与 T2 之间的专家使用。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>Saves disk reads where a model has many similar experts. The most important expert of each token is never replaced, and one that is replaced again and again is read after all. Measure quality now finds what it costs.</source>
            <translation>当模型有许多相似的专家时，可减少磁盘读取。每个词元最重要的专家从不被顶替；一再被顶替的专家最终仍会被读取。“立即测量质量”会测出其代价。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>HOBBIT weighs recency, frequency, precision and distance. LRU and LFU drop what was used longest ago or least. The other two follow the papers they are named after. Recordings compares all of them on your own chats.</source>
            <translation>HOBBIT 综合考虑时近度、频率、精度和距离。LRU 和 LFU 淘汰最久未用或最少使用的专家。另外两种遵循同名论文。“记录”可在你自己的对话上比较所有策略。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>Fitted weights are found on this model while it is idle, and suit it best.</source>
            <translation>拟合的权重是在此模型空闲时得出的，最适合它。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>Quotes, lists and code that is changed a little come faster: words that followed the same words before are checked together. Some models also predict the next words themselves, which needs memory when they are loaded. It pauses where guesses are wrong or checking takes too long, and works where all experts are in memory.</source>
            <translation>引文、列表和稍作修改的代码会更快：之前跟在同样词语后面的词会一次检查多个。有些模型还能自己预测接下来的词，加载时需要为此占用内存。猜错或检查太慢时暂停；仅在所有专家都在内存中时启用。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>Reading ahead fills time in which the disk would do nothing. It pauses where it does not pay.</source>
            <translation>预取利用磁盘空闲的时间。没有收益时会暂停。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>Gates are the model's own: they are asked early what they would choose. Tables learn which experts follow which tokens, layers or paths. Auto combines gates and the token table and suits most models. While experts are prefetched, a line below says how well.</source>
            <translation>门控是模型自带的：提前询问它们会选择哪些专家。各种表学习哪些专家跟随哪些词元、层或路径。“自动”结合门控和词元表，适合大多数模型。预取专家时，下方会显示预测的效果。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>3 keeps the disk busiest. Guesses get worse with each layer: choose 1 where many prefetched experts are wasted.</source>
            <translation>3 让磁盘最忙。每多一层，预测就更不准：如果预取的专家大量浪费，选 1。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>Automatic prefetches as many as a token uses in a layer. With more, fewer needed ones are missed and more are wasted.</source>
            <translation>自动预取一个词元在一层中使用的专家数量。数量更多时，遗漏的更少，浪费的更多。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>Beside the model, on this computer, it keeps how often experts were used and with which tokens, without their order. The model then opens with the experts that your chats use most, and prefetches better.</source>
            <translation>在这台电脑上的模型旁边，保存专家的使用次数以及对应的词元，不含词元的顺序。模型打开时会载入你的对话最常用的专家，预取也更准确。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>Experts in memory are used at once; others are read from disk first. Automatic keeps as many as the memory limit allows.</source>
            <translation>内存中的专家可立即使用，其他的要先从磁盘读取。“自动”会在内存上限内保留尽可能多的专家。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>Automatic takes what is free now, less 2 GB for other apps. A lower limit leaves them more and makes answers slower where fewer experts fit. It holds for the whole app.</source>
            <translation>“自动”使用当前空闲的内存，并为其他应用留出 2 GB。上限越低，留给它们的越多；能放入内存的专家变少时，回答会变慢。此上限适用于整个应用。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>The model sees the system prompt, the chat, attachments and its answer, together up to this many tokens. In longer chats the oldest messages are left out. Automatic keeps memory for experts.</source>
            <translation>模型能看到系统提示词、对话、附件和它的回答，合计最多这么多词元。对话更长时会略去最早的消息。“自动”会为专家留出内存。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>With CPU + GPU both compute experts of the same layer. Auto takes it where it is expected to be faster, and keeps to the CPU where it was not.</source>
            <translation>选择 CPU + GPU 时，两者同时计算同一层的专家。“自动”在预计更快时使用它，否则只用 CPU。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>Only for computers with more than one NVIDIA GPU. Their driver numbers them, mostly with the fastest first.</source>
            <translation>仅用于有多块 NVIDIA GPU 的电脑。编号由驱动程序决定，通常最快的排在最前。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>An SSD is faster when it is asked for several things at once, and 4 suits most. More threads take time from computing.</source>
            <translation>同时收到多个请求时，SSD 读取更快，4 适合大多数 SSD。更多线程会占用计算时间。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>Copies in the file cache take memory that experts could have. Auto measures both ways and uses the file cache only where it is much faster.</source>
            <translation>文件缓存中的副本会占用本可用于专家的内存。“自动”会测量两种方式，仅在文件缓存快得多时才使用它。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>Automatic uses one thread for each core, and leaves out slow cores where they don't help. Fewer threads make answers slower and leave more of the CPU to other apps.</source>
            <translation>自动时每个核心使用一个线程，慢核心没有帮助时不使用。线程更少时回答更慢，但给其他应用留出更多 CPU。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>Auto mostly uses 8-bit, which loses hardly anything. Small models keep float32, and 4-bit is used only where the model would not fit otherwise. Fewer bits leave more memory for experts.</source>
            <translation>“自动”通常使用 8 位，几乎没有损失。小模型保持 float32，仅在模型放不下时才使用 4 位。位数越少，留给专家的内存越多。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>The KV cache is what the model keeps of the chat so far. 8-bit is almost as good as bf16 and leaves more memory for experts or a longer chat. Auto never uses it under Exact.</source>
            <translation>KV 缓存是模型对目前对话的记录。8 位几乎与 bf16 一样好，并为专家或更长的对话留出更多内存。在“精确”下，“自动”从不使用它。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>Activations are the numbers that pass from layer to layer. Auto rounds them, under Exact too: that costs far less than 4-bit experts do.</source>
            <translation>激活值是层与层之间传递的数字。“自动”会对它们取整，在“精确”下也是如此：其损失远小于把专家存为 4 位。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>Leave it empty for Hugging Face. A mirror has the same models at another address, and gets a token of its own.</source>
            <translation>留空则使用 Hugging Face。镜像在另一个地址提供相同的模型，使用自己的令牌。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>Leave it empty to use the system's proxy.</source>
            <translation>留空则使用系统的代理。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>Chats, the models on this computer and the local server keep working. Endpoints and tool servers on other computers are not asked.</source>
            <translation>对话、这台电脑上的模型和本地服务器照常工作。不会向其他电脑上的端点和工具服务器发送请求。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>An import keeps all cores busy for minutes. One that waits resumes once the computer is plugged in or charged above this level.</source>
            <translation>导入会让所有核心忙碌数分钟。等待中的导入会在接通电源或电量高于此值后继续。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>It is part of the server address, so change it in your apps, too.</source>
            <translation>它是服务器地址的一部分，因此你的应用中也要一并修改。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>By default, no other computer can reach the server. On the local network it asks for a key, but others there could read what is sent.</source>
            <translation>默认情况下，其他电脑无法访问服务器。在本地网络中它要求密钥，但同一网络中的其他人可能读取发送的内容。</translation>
        </message>
        <message>
            <location filename="../../app/settings/learn_more.py"></location>
            <source>If off, you turn the server on yourself, and it runs until you close the app.</source>
            <translation>关闭时，需要你自己打开服务器，它会运行到你关闭应用为止。</translation>
        </message>
        <message>
            <location filename="../../app/settings/measure_row.py"></location>
            <source>Measure quality now</source>
            <translation>立即测量质量</translation>
        </message>
        <message>
            <location filename="../../app/settings/measure_row.py"></location>
            <source>Load a model to measure its quality settings.</source>
            <translation>加载模型后可测量其质量设置。</translation>
        </message>
        <message>
            <location filename="../../app/settings/measure_row.py"></location>
            <source>Quality loss is measured when the app is idle.</source>
            <translation>应用空闲时会测量质量损失。</translation>
        </message>
        <message>
            <location filename="../../app/settings/measure_row.py"></location>
            <source>Loss measured on {count:,} tokens.</source>
            <translation>损失已在 {count:,} 个词元上测得。</translation>
        </message>
        <message>
            <location filename="../../app/settings/number_slider.py"></location>
            <source>{number}%</source>
            <translation>{number}%</translation>
        </message>
        <message>
            <location filename="../../app/settings/number_slider.py"></location>
            <source>Recommended: {value}</source>
            <translation>推荐值：{value}</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Appearance</source>
            <translation>外观</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Theme, contrast, motion, font size, language and code.</source>
            <translation>主题、对比度、动效、字号、语言和代码。</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>System</source>
            <translation>跟随系统</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Light</source>
            <translation>浅色</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Dark</source>
            <translation>深色</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>{number:.0f}%</source>
            <translation>{number:.0f}%</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Theme</source>
            <translation>主题</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>High contrast</source>
            <translation>高对比度</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Reduce motion</source>
            <translation>减弱动效</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Font size</source>
            <translation>字号</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Language</source>
            <translation>语言</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>theme appearance dark light system colors</source>
            <comment>words of the search</comment>
            <translation>主题 外观 深色 浅色 跟随系统 颜色 theme dark light</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>contrast appearance accessibility colors</source>
            <comment>words of the search</comment>
            <translation>对比度 外观 无障碍 颜色</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>motion animation blinking accessibility</source>
            <comment>words of the search</comment>
            <translation>动效 动画 闪烁 无障碍</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>text font size appearance larger smaller</source>
            <comment>words of the search</comment>
            <translation>文字大小 字号 字体 放大 缩小 font size</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>spelling spell check dictionary typing</source>
            <comment>words of the search</comment>
            <translation>拼写 检查 词典 输入</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Wrap long lines of code</source>
            <translation>代码长行自动换行</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>If off, wide code scrolls sideways.</source>
            <translation>关闭时，过宽的代码可左右滚动。</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>wrap lines code wide scroll chat</source>
            <comment>words of the search</comment>
            <translation>换行 代码 长行 滚动 对话</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>The language changes when the current work is done.</source>
            <translation>当前任务完成后将切换语言。</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Restart now</source>
            <translation>立即重新启动</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Spelling</source>
            <translation>拼写检查</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>No dictionary is installed for this language.</source>
            <translation>未安装该语言的词典。</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Hugging Face token</source>
            <translation>Hugging Face 令牌</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Checking…</source>
            <translation>正在检查…</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Paste a token</source>
            <translation>粘贴令牌</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Remove the token</source>
            <translation>移除令牌</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Token for {hub} saved in the system keyring.</source>
            <translation>{hub} 的令牌已保存在系统密钥环中。</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Using HF_TOKEN from the environment.</source>
            <translation>正在使用环境变量 HF_TOKEN。</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>No token for {hub}. Some models need one.</source>
            <translation>尚未保存 {hub} 的令牌。部分模型需要令牌。</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>New models are saved in the first folder. Removing a folder keeps its files.</source>
            <translation>新模型保存在第一个文件夹。移除文件夹不会删除文件。</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>{amount} free</source>
            <translation>{amount} 可用</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Models and network</source>
            <translation>模型与网络</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Default model, model sources and folders.</source>
            <translation>默认模型、模型来源和文件夹。</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Model for new chats</source>
            <translation>新对话的模型</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>default model team new chats last used</source>
            <comment>words of the search</comment>
            <translation>默认 模型 团队 新对话 上次使用</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>access token hub keyring license gated network</source>
            <comment>words of the search</comment>
            <translation>访问 令牌 模型站 密钥环 许可 网络 token hub</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Check for updates at startup</source>
            <translation>启动时检查更新</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>model folders disk library</source>
            <comment>words of the search</comment>
            <translation>模型 文件夹 磁盘 模型库</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>updates new version network</source>
            <comment>words of the search</comment>
            <translation>更新 新版本 网络 updates</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Last used</source>
            <translation>上次使用的模型</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>{name} (missing)</source>
            <translation>{name}（缺失）</translation>
        </message>
        <message>
            <location filename="../../app/settings/pasted_servers.py"></location>
            <source> (line {line})</source>
            <translation>（第 {line} 行）</translation>
        </message>
        <message>
            <location filename="../../app/settings/pasted_servers.py"></location>
            <source>This isn't valid JSON{where}.</source>
            <translation>这不是有效的 JSON{where}。</translation>
        </message>
        <message>
            <location filename="../../app/settings/pasted_servers.py"></location>
            <source>There is no “mcpServers” with servers in it.</source>
            <translation>没有包含服务器的“mcpServers”。</translation>
        </message>
        <message>
            <location filename="../../app/settings/pasted_servers.py"></location>
            <source>{name} has neither a “command” nor a “url”.</source>
            <translation>{name} 既没有“command”也没有“url”。</translation>
        </message>
        <message>
            <location filename="../../app/settings/pasted_servers.py"></location>
            <source>The “args” of {name} must be a list, its “env” and “headers” names with values.</source>
            <translation>{name} 的“args”必须是列表，“env”和“headers”必须是名称和值。</translation>
        </message>
        <message>
            <location filename="../../app/settings/preferences.py"></location>
            <source>Can't read your preferences ({error}). Defaults are used.</source>
            <translation>无法读取偏好设置（{error}），已改用默认值。</translation>
        </message>
        <message>
            <location filename="../../app/settings/preferences.py"></location>
            <source>Your settings were saved by a newer version.</source>
            <translation>你的设置由更新的版本保存。</translation>
        </message>
        <message>
            <location filename="../../app/settings/preferences.py"></location>
            <source>Install that version to change them. Nothing was changed.</source>
            <translation>安装那个版本后即可更改。原设置没有改动。</translation>
        </message>
        <message>
            <location filename="../../app/settings/preferences.py"></location>
            <source>Can't save your settings.</source>
            <translation>无法保存设置。</translation>
        </message>
        <message>
            <location filename="../../app/settings/preferences.py"></location>
            <source>They apply until you close the app.</source>
            <translation>它们在关闭应用前有效。</translation>
        </message>
        <message>
            <location filename="../../app/settings/preset_cards.py"></location>
            <source>Full precision, always</source>
            <translation>始终全精度</translation>
        </message>
        <message>
            <location filename="../../app/settings/preset_cards.py"></location>
            <source>67% full, 30% lower precision, 3% skipped</source>
            <translation>67% 全精度，30% 低精度，3% 跳过</translation>
        </message>
        <message>
            <location filename="../../app/settings/preset_cards.py"></location>
            <source>Almost no loss</source>
            <translation>几乎无损失</translation>
        </message>
        <message>
            <location filename="../../app/settings/preset_cards.py"></location>
            <source>Small loss, fewer disk reads</source>
            <translation>损失小，磁盘读取更少</translation>
        </message>
        <message>
            <location filename="../../app/settings/preset_cards.py"></location>
            <source>≈ {speed} tok/s</source>
            <translation>≈ {speed} 词元/秒</translation>
        </message>
        <message>
            <location filename="../../app/settings/preset_cards.py"></location>
            <source>No loss</source>
            <translation>无损失</translation>
        </message>
        <message>
            <location filename="../../app/settings/preset_cards.py"></location>
            <source>Not measured yet</source>
            <translation>尚未测量</translation>
        </message>
        <message>
            <location filename="../../app/settings/preset_cards.py"></location>
            <source>Loss: KL {kl}</source>
            <translation>损失：KL {kl}</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>full precision</source>
            <translation>全精度</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>lower precision</source>
            <translation>低精度</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>skipped</source>
            <translation>跳过</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>Distribution of unimportance scores, with T1 and T2</source>
            <translation>不重要性分数的分布，以及 T1 和 T2</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>important</source>
            <translation>重要</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>less important</source>
            <translation>不太重要</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>Load a model to see its scores.</source>
            <translation>加载模型后即可查看分数。</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>Scores appear once they are measured, which happens when idle.</source>
            <translation>分数会在空闲时测量，完成后显示。</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>Measure quality now shows its scores.</source>
            <translation>点击“立即测量质量”即可显示其分数。</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>With Exact, every expert runs at full precision.</source>
            <translation>“精确”模式下，所有专家都以全精度运行。</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>Of experts read from disk:</source>
            <translation>从磁盘读取的专家中：</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>T1 lowered to {value}: it can't exceed T2.</source>
            <translation>T1 已降为 {value}：不能高于 T2。</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>T2 raised to {value}: it can't be below T1.</source>
            <translation>T2 已升为 {value}：不能低于 T1。</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Waiting</source>
            <translation>正在等待</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Reading the prompt</source>
            <translation>读取提示词</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Answering</source>
            <translation>正在回答</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Answered</source>
            <translation>已回答</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Server address</source>
            <translation>服务器地址</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>For Ollama or Anthropic, leave out /v1. If an app asks for a key and none is set, type anything.</source>
            <translation>用于 Ollama 或 Anthropic 时请去掉 /v1。若应用要求密钥而未设置密钥，可随意填写。</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Copy {address}</source>
            <translation>复制 {address}</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>API key</source>
            <translation>API 密钥</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Show</source>
            <translation>显示</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Copy the key</source>
            <translation>复制密钥</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Make a key</source>
            <translation>生成密钥</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>The key is in the system's keyring, which is asked…</source>
            <translation>密钥在系统密钥环中，正在读取…</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Apps must send this key. A new key replaces the old one.</source>
            <translation>应用必须发送此密钥。新密钥会取代旧密钥。</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>No key is needed: any app on this computer can connect.</source>
            <translation>无需密钥：本机上的任何应用都可以连接。</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Make a new key</source>
            <translation>生成新密钥</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Hide</source>
            <translation>收起</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Hide the key</source>
            <translation>隐藏密钥</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Show the key</source>
            <translation>显示密钥</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Requests</source>
            <translation>请求</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Stop this request</source>
            <translation>停止此请求</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/settings/server_page.py"></location>
            <source>%n requests answered</source>
            <translation>
                <numerusform>已回答 %n 个请求</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/settings/server_page.py"></location>
            <source>%n refused</source>
            <translation>
                <numerusform>拒绝 %n 个</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>{answered}, {refused}</source>
            <translation>{answered}，{refused}</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Local server</source>
            <translation>本地服务器</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Editors, agents and other apps can use your models through the OpenAI, Ollama and Anthropic APIs.</source>
            <translation>编辑器、智能体和其他应用可以通过 OpenAI、Ollama 和 Anthropic API 使用你的模型。</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>local server api openai ollama anthropic port address endpoint</source>
            <comment>words of the search</comment>
            <translation>本地服务器 api openai ollama anthropic 端口 地址 接口</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Run the local server</source>
            <translation>运行本地服务器</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>api key password token local server</source>
            <comment>words of the search</comment>
            <translation>api 密钥 密码 令牌 本地服务器</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>requests local server programs clients</source>
            <comment>words of the search</comment>
            <translation>请求 本地服务器 程序 客户端</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Stopping…</source>
            <translation>正在停止…</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Off. Nothing can connect.</source>
            <translation>已关闭，无法连接。</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>On. Apps on this computer and the local network can connect.</source>
            <translation>已开启。这台电脑和本地网络中的应用可以连接。</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>On. Apps on this computer can connect.</source>
            <translation>已开启。这台电脑上的应用可以连接。</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Models load on request.</source>
            <translation>模型会在收到请求时加载。</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>{client}, model {model}, {path}</source>
            <translation>{client}，模型 {model}，{path}</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Presets</source>
            <translation>预设</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Save as preset</source>
            <translation>另存为预设</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Rename preset</source>
            <translation>重命名预设</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Delete preset</source>
            <translation>删除预设</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Preset</source>
            <translation>预设</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>For example: Answer in one sentence.</source>
            <translation>例如：用一句话回答。</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Stop sequences, one per line</source>
            <translation>停止序列（每行一个）</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>\n stands for the end of a line.</source>
            <translation>\n 表示换行。</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Use defaults</source>
            <translation>使用默认值</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Apply</source>
            <translation>应用</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Preset name</source>
            <translation>预设名称</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Discard</source>
            <translation>放弃</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Save or discard the preset name first</source>
            <translation>先保存或放弃预设名称</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Enter a name.</source>
            <translation>输入名称。</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>This name is taken.</source>
            <translation>该名称已被使用。</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Replace preset {name}?</source>
            <translation>替换预设“{name}”？</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Chats that use it don't change.</source>
            <translation>使用它的对话不变。</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Replace</source>
            <translation>替换</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Delete preset {name}?</source>
            <translation>删除预设“{name}”？</translation>
        </message>
        <message>
            <location filename="../../app/settings/tool_editor.py"></location>
            <source>Value</source>
            <translation>值</translation>
        </message>
        <message>
            <location filename="../../app/settings/tool_editor.py"></location>
            <source>Secret</source>
            <translation>机密</translation>
        </message>
        <message>
            <location filename="../../app/settings/tool_editor.py"></location>
            <source>Kept in the system's keyring and never shown</source>
            <translation>保存在系统密钥环中，从不显示</translation>
        </message>
        <message>
            <location filename="../../app/settings/tool_editor.py"></location>
            <source>Remove this value</source>
            <translation>移除此值</translation>
        </message>
        <message>
            <location filename="../../app/settings/tool_editor.py"></location>
            <source>Edit tool server</source>
            <translation>编辑工具服务器</translation>
        </message>
        <message>
            <location filename="../../app/settings/tool_editor.py"></location>
            <source>Add tool server</source>
            <translation>添加工具服务器</translation>
        </message>
        <message>
            <location filename="../../app/settings/tool_editor.py"></location>
            <source>Files</source>
            <translation>文件</translation>
        </message>
        <message>
            <location filename="../../app/settings/tool_editor.py"></location>
            <source>Program on this computer (stdio)</source>
            <translation>这台电脑上的程序（stdio）</translation>
        </message>
        <message>
            <location filename="../../app/settings/tool_editor.py"></location>
            <source>Address (HTTP)</source>
            <translation>地址（HTTP）</translation>
        </message>
        <message>
            <location filename="../../app/settings/tool_editor.py"></location>
            <source>Type</source>
            <translation>类型</translation>
        </message>
        <message>
            <location filename="../../app/settings/tool_editor.py"></location>
            <source>Command</source>
            <translation>命令</translation>
        </message>
        <message>
            <location filename="../../app/settings/tool_editor.py"></location>
            <source>Arguments, one per line</source>
            <translation>参数，每行一个</translation>
        </message>
        <message>
            <location filename="../../app/settings/tool_editor.py"></location>
            <source>A program runs with your rights. Add only servers that you trust.</source>
            <translation>程序以你的权限运行。请只添加你信任的服务器。</translation>
        </message>
        <message>
            <location filename="../../app/settings/tool_editor.py"></location>
            <source>Environment variables</source>
            <translation>环境变量</translation>
        </message>
        <message>
            <location filename="../../app/settings/tool_editor.py"></location>
            <source>Headers</source>
            <translation>请求头</translation>
        </message>
        <message>
            <location filename="../../app/settings/tool_editor.py"></location>
            <source>Add variable</source>
            <translation>添加变量</translation>
        </message>
        <message>
            <location filename="../../app/settings/tool_editor.py"></location>
            <source>Add header</source>
            <translation>添加请求头</translation>
        </message>
        <message>
            <location filename="../../app/settings/tool_editor.py"></location>
            <source>Remote server: {host}</source>
            <translation>远程服务器：{host}</translation>
        </message>
        <message>
            <location filename="../../app/settings/tool_editor.py"></location>
            <source>Import tool servers</source>
            <translation>导入工具服务器</translation>
        </message>
        <message>
            <location filename="../../app/settings/tool_editor.py"></location>
            <source>JSON</source>
            <translation>JSON</translation>
        </message>
        <message>
            <location filename="../../app/settings/tool_editor.py"></location>
            <source>Paste the JSON that other apps use. Values named like a key or token go into the system's keyring.</source>
            <translation>粘贴其他应用使用的 JSON。名称像密钥或令牌的值会保存到系统密钥环中。</translation>
        </message>
        <message>
            <location filename="../../app/settings/tools_page.py"></location>
            <source>Restart</source>
            <translation>重新启动</translation>
        </message>
        <message>
            <location filename="../../app/settings/tools_page.py"></location>
            <source>Ask again</source>
            <translation>重新询问</translation>
        </message>
        <message>
            <location filename="../../app/settings/tools_page.py"></location>
            <source>Always allowed: {names}</source>
            <translation>始终允许：{names}</translation>
        </message>
        <message>
            <location filename="../../app/settings/tools_page.py"></location>
            <source>Tool servers (MCP) let models read files, search and more. Nothing runs until you allow it.</source>
            <translation>工具服务器（MCP）让模型可以读取文件、搜索等。未经你允许，什么都不会运行。</translation>
        </message>
        <message>
            <location filename="../../app/settings/tools_page.py"></location>
            <source>tools mcp servers model context protocol functions plugins</source>
            <comment>words of the search</comment>
            <translation>工具 mcp 服务器 模型上下文协议 函数 插件</translation>
        </message>
        <message>
            <location filename="../../app/settings/tools_page.py"></location>
            <source>Add server…</source>
            <translation>添加服务器…</translation>
        </message>
        <message>
            <location filename="../../app/settings/tools_page.py"></location>
            <source>Import JSON…</source>
            <translation>导入 JSON…</translation>
        </message>
        <message>
            <location filename="../../app/settings/tools_page.py"></location>
            <source>No tool servers yet</source>
            <translation>还没有工具服务器</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>Looking up the packages…</source>
            <translation>正在查询软件包…</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>Installing the packages…</source>
            <translation>正在安装软件包…</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>Checking the installation…</source>
            <translation>正在检查安装…</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>The packages can't be reached.</source>
            <translation>无法获取软件包。</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>Check the internet connection, or set a mirror or proxy under Options.</source>
            <translation>请检查网络连接，或在“选项”中设置镜像或代理。</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>Free some space, then try again.</source>
            <translation>请释放一些空间，然后重试。</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>A downloaded package is damaged.</source>
            <translation>下载的软件包已损坏。</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>Try again, or use another mirror.</source>
            <translation>请重试，或换一个镜像。</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>A file can't be written.</source>
            <translation>无法写入文件。</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>Check the disk and its permissions.</source>
            <translation>请检查磁盘及其权限。</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>Another window is installing the engine.</source>
            <translation>另一个窗口正在安装引擎。</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>Wait for it to finish, then try again.</source>
            <translation>等它完成后再重试。</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>The engine couldn't be installed.</source>
            <translation>引擎安装失败。</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>Try again.</source>
            <translation>请重试。</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>Install the engine</source>
            <translation>安装引擎</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>The engine runs the models. Its packages are part of this installer.</source>
            <translation>引擎用于运行模型。所需软件包已包含在安装程序中。</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>The engine runs the models. Its packages are downloaded once, about {amount}.</source>
            <translation>引擎用于运行模型。所需软件包只下载一次，约 {amount}。</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>They need about {amount} in {folder}.</source>
            <translation>安装后占用约 {amount}，位于 {folder}。</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>Installation progress</source>
            <translation>安装进度</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>Install</source>
            <translation>安装</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>Options</source>
            <translation>选项</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>Downloading: {done} of {total}</source>
            <translation>下载中：{done} / {total}</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>Paused. The download so far is kept.</source>
            <translation>已暂停。已下载的部分会保留。</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>Package mirror URL</source>
            <translation>软件包镜像地址</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>Torch builds (URL or folder)</source>
            <translation>Torch 安装包（地址或文件夹）</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>Proxy URL</source>
            <translation>代理地址</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>Offline packages (folder)</source>
            <translation>离线软件包（文件夹）</translation>
        </message>
        <message>
            <location filename="../../app/setup/updates.py"></location>
            <source>No update information since {month}.</source>
            <translation>自 {month}以来没有收到更新信息。</translation>
        </message>
        <message>
            <location filename="../../app/setup/updates.py"></location>
            <source>Updates may be blocked. Check for a newer version where you downloaded this one.</source>
            <translation>更新可能被拦截。到你下载此版本的地方查看是否有新版本。</translation>
        </message>
        <message>
            <location filename="../../app/setup/updates.py"></location>
            <source>Underhill {version} is available ({size}).</source>
            <translation>Underhill {version} 可用（{size}）。</translation>
        </message>
        <message>
            <location filename="../../app/setup/updates.py"></location>
            <source>Restart to use it.</source>
            <translation>重新启动后使用。</translation>
        </message>
        <message>
            <location filename="../../app/setup/updates.py"></location>
            <source>Downloading Underhill {version}…</source>
            <translation>正在下载 Underhill {version}…</translation>
        </message>
        <message>
            <location filename="../../app/setup/updates.py"></location>
            <source>Underhill {version} is ready.</source>
            <translation>Underhill {version} 已就绪。</translation>
        </message>
        <message>
            <location filename="../../app/setup/updates.py"></location>
            <source>Underhill {version} couldn't be installed.</source>
            <translation>Underhill {version} 安装失败。</translation>
        </message>
        <message>
            <location filename="../../app/setup/updates.py"></location>
            <source>This version is unchanged.</source>
            <translation>当前版本不受影响。</translation>
        </message>
        <message>
            <location filename="../../app/shell.py"></location>
            <source>Restart engine</source>
            <translation>重新启动引擎</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/chat_model.py"></location>
            <source>Pinned</source>
            <translation>置顶</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/chat_model.py"></location>
            <source>Titles</source>
            <translation>标题</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/chat_model.py"></location>
            <source>Messages</source>
            <translation>消息</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/chat_model.py"></location>
            <source>Latest {most} messages</source>
            <translation>最近 {most} 条消息</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/chat_model.py"></location>
            <source>Today</source>
            <translation>今天</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/chat_model.py"></location>
            <source>Yesterday</source>
            <translation>昨天</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/chat_model.py"></location>
            <source>Previous 7 days</source>
            <translation>过去 7 天</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/chat_model.py"></location>
            <source>new answer</source>
            <translation>有新回答</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/chat_model.py"></location>
            <source>Found in {title}: {words}</source>
            <translation>在“{title}”中找到：{words}</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/chat_model.py"></location>
            <source>Pinned chat: {title}</source>
            <translation>置顶对话：{title}</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/chat_model.py"></location>
            <source>Chat: {title}</source>
            <translation>对话：{title}</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/chat_model.py"></location>
            <source>Folder {title}, {count} chats, open</source>
            <translation>文件夹“{title}”，{count} 个对话，已展开</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/chat_model.py"></location>
            <source>Folder {title}, {count} chats, closed</source>
            <translation>文件夹“{title}”，{count} 个对话，已折叠</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/sidebar.py"></location>
            <source>More chat actions</source>
            <translation>更多对话操作</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/sidebar.py"></location>
            <source>Search chats</source>
            <translation>搜索对话</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/sidebar.py"></location>
            <source>No chats yet</source>
            <translation>还没有对话</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/sidebar.py"></location>
            <source>No matching chats</source>
            <translation>没有匹配的对话</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/sidebar/sidebar.py"></location>
            <source>Delete %n chats</source>
            <translation>
                <numerusform>删除 %n 个对话</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/sidebar/sidebar.py"></location>
            <source>Delete folder, keep chats</source>
            <translation>删除文件夹，保留对话</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/sidebar.py"></location>
            <source>Unpin</source>
            <translation>取消置顶</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/sidebar.py"></location>
            <source>Pin</source>
            <translation>置顶</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/sidebar.py"></location>
            <source>Export as Markdown…</source>
            <translation>导出为 Markdown…</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/sidebar.py"></location>
            <source>Export as JSON…</source>
            <translation>导出为 JSON…</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/sidebar.py"></location>
            <source>Remove from folder</source>
            <translation>移出文件夹</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/sidebar.py"></location>
            <source>Chats</source>
            <translation>对话</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/sidebar/sidebar.py"></location>
            <source>%n chats</source>
            <translation>
                <numerusform>%n 个对话</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/speech/text.py"></location>
            <source>Code: {language}</source>
            <translation>代码：{language}</translation>
        </message>
        <message>
            <location filename="../../app/spelling/menu.py"></location>
            <source>No suggestions</source>
            <translation>没有建议</translation>
        </message>
        <message>
            <location filename="../../app/spelling/menu.py"></location>
            <source>Add to dictionary</source>
            <translation>添加到词典</translation>
        </message>
        <message>
            <location filename="../../app/storage/backup.py"></location>
            <source>{file} is damaged.</source>
            <translation>{file} 已损坏。</translation>
        </message>
        <message>
            <location filename="../../app/storage/backup.py"></location>
            <source>Choose another file. Your chats are unchanged.</source>
            <translation>选择其他文件。你的对话没有改动。</translation>
        </message>
        <message>
            <location filename="../../app/storage/backup.py"></location>
            <source>Install a newer version, then restore it there. Your chats are unchanged.</source>
            <translation>安装更新的版本后再恢复。你的对话没有改动。</translation>
        </message>
        <message>
            <location filename="../../app/storage/backup.py"></location>
            <source>{file} isn't a chat backup, or it is damaged.</source>
            <translation>{file} 不是对话备份，或已损坏。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>Your chats were saved by a newer version.</source>
            <translation>你的对话由更新的版本保存。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>Install that version to see them. Nothing was changed.</source>
            <translation>安装那个版本后即可查看。对话没有改动。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>The chat file is damaged.</source>
            <translation>对话文件已损坏。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>Another app has locked the chat file.</source>
            <translation>对话文件被其他应用占用。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>Close other windows of the app and backup apps, then try again.</source>
            <translation>关闭应用的其他窗口和备份应用，然后重试。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>The disk is full: chats can't be saved.</source>
            <translation>磁盘已满：无法保存对话。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>No permission to write to {folder}.</source>
            <translation>没有写入 {folder} 的权限。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>Check the folder's permissions, then restart the app.</source>
            <translation>检查该文件夹的权限，然后重新启动应用。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>Something went wrong. A change to your chats wasn't saved.</source>
            <translation>出了点问题，对对话的一项更改未能保存。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>Try again. If it happens again, report the details.</source>
            <translation>重试一次。如果再次发生，请报告详细信息。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>Can't save your chats.</source>
            <translation>无法保存对话。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>Check the folder {folder}.</source>
            <translation>请检查文件夹 {folder}。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>The chat file is damaged. A new one was created.</source>
            <translation>对话文件已损坏，已新建一个。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>The damaged file is kept as {file}. You can restore a backup.</source>
            <translation>损坏的文件保存为 {file}。你可以恢复备份。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>Until then, chats aren't saved.</source>
            <translation>在此之前，对话不会保存。</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>is in</source>
            <translation>的语言是</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>is not in</source>
            <translation>的语言不是</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>contains</source>
            <translation>包含</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>doesn't contain</source>
            <translation>不包含</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>is exactly</source>
            <translation>正好是</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>is not exactly</source>
            <translation>并非</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>has code</source>
            <translation>含有代码</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>has no code</source>
            <translation>不含代码</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>is longer than</source>
            <translation>长于</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>isn't longer than</source>
            <translation>不长于</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>has attachments</source>
            <translation>有附件</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>has no attachments</source>
            <translation>没有附件</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Words, separated by commas</source>
            <translation>词语，用逗号分隔</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Characters</source>
            <translation>字符数</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Text the condition is about</source>
            <translation>条件针对的文本</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Condition</source>
            <translation>条件</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Words or number of the condition</source>
            <translation>条件的词语或数字</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Remove condition</source>
            <translation>移除条件</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Name of the step</source>
            <translation>步骤名称</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Up</source>
            <translation>上移</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Move step up</source>
            <translation>上移步骤</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Down</source>
            <translation>下移</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Move step down</source>
            <translation>下移步骤</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Remove step</source>
            <translation>移除步骤</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Add condition</source>
            <translation>添加条件</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Selected model</source>
            <translation>所选模型</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>What the model is sent</source>
            <translation>发送给模型的内容</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>The message, unchanged</source>
            <translation>原样发送消息</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Choices</source>
            <translation>选项</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Any answer</source>
            <translation>任意回答</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Then</source>
            <translation>然后</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Internal note, not shown as the answer</source>
            <translation>内部备注，不作为回答显示</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Sees earlier messages</source>
            <translation>可看到之前的消息</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Use {holes} or an earlier step's name in braces.</source>
            <translation>可使用 {holes}，或用花括号括起前面步骤的名称。</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>When</source>
            <translation>条件</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Ask</source>
            <translation>询问</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Choices, separated by commas</source>
            <translation>选项，用逗号分隔</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Next step</source>
            <translation>下一步</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Finish</source>
            <translation>结束</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>The message</source>
            <translation>消息</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Edit team</source>
            <translation>编辑团队</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Team name</source>
            <translation>团队名称</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Description</source>
            <translation>描述</translation>
        </message>
        <message>
            <location filename="../../app/teams/editor.py"></location>
            <source>Add step</source>
            <translation>添加步骤</translation>
        </message>
        <message>
            <location filename="../../app/teams/words.py"></location>
            <source>Draft and check</source>
            <translation>起草并检查</translation>
        </message>
        <message>
            <location filename="../../app/teams/words.py"></location>
            <source>Code or talk</source>
            <translation>代码或聊天</translation>
        </message>
        <message>
            <location filename="../../app/teams/words.py"></location>
            <source>Answer in my language</source>
            <translation>用我的语言回答</translation>
        </message>
        <message>
            <location filename="../../app/teams/words.py"></location>
            <source>One model writes an answer, another looks for mistakes, and what is wrong is put right.</source>
            <translation>一个模型写回答，另一个查找错误，再改正。</translation>
        </message>
        <message>
            <location filename="../../app/teams/words.py"></location>
            <source>Questions about programming go to one model, everything else to another.</source>
            <translation>编程问题交给一个模型，其余交给另一个。</translation>
        </message>
        <message>
            <location filename="../../app/teams/words.py"></location>
            <source>A message in another language is put into English, answered, and the answer put back into its language.</source>
            <translation>其他语言的消息先译成英语，回答后再译回原来的语言。</translation>
        </message>
        <message>
            <location filename="../../app/teams/words.py"></location>
            <source>Draft</source>
            <translation>起草</translation>
        </message>
        <message>
            <location filename="../../app/teams/words.py"></location>
            <source>Check</source>
            <translation>检查</translation>
        </message>
        <message>
            <location filename="../../app/teams/words.py"></location>
            <source>Improve</source>
            <translation>改进</translation>
        </message>
        <message>
            <location filename="../../app/teams/words.py"></location>
            <source>Sort</source>
            <translation>分类</translation>
        </message>
        <message>
            <location filename="../../app/teams/words.py"></location>
            <source>Talk</source>
            <translation>聊天</translation>
        </message>
        <message>
            <location filename="../../app/teams/words.py"></location>
            <source>Into English</source>
            <translation>译成英语</translation>
        </message>
        <message>
            <location filename="../../app/teams/words.py"></location>
            <source>Translate back</source>
            <translation>译回</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/charts.py"></location>
            <source>experts</source>
            <translation>专家</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/charts.py"></location>
            <source>free for experts</source>
            <translation>专家可用</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/charts.py"></location>
            <source>app</source>
            <translation>应用</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/charts.py"></location>
            <source>shared weights</source>
            <translation>共享权重</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/charts.py"></location>
            <source>context</source>
            <translation>上下文</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/charts.py"></location>
            <source>workspace</source>
            <translation>计算缓冲</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/charts.py"></location>
            <source>reserved for context and workspace</source>
            <translation>为上下文和计算预留</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/charts.py"></location>
            <source>unused</source>
            <translation>未使用</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/charts.py"></location>
            <source>Memory use</source>
            <translation>内存占用</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/charts.py"></location>
            <source>Experts in GPU memory</source>
            <translation>显存中的专家</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/charts.py"></location>
            <source>Load a model to see memory use.</source>
            <translation>加载模型后显示。</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/charts.py"></location>
            <source>GPU memory: {part} of {whole} for experts</source>
            <translation>显存：专家 {part} / {whole}</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/docks.py"></location>
            <source>{title} panel</source>
            <translation>“{title}”面板</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/docks.py"></location>
            <source>Undock or dock {title}</source>
            <translation>分离或停靠“{title}”</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/docks.py"></location>
            <source>Close {title}</source>
            <translation>关闭“{title}”</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>Uses in this answer</source>
            <translation>此回答中的使用次数</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>Uses since loading</source>
            <translation>加载以来的使用次数</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>Gate weight in this answer</source>
            <translation>此回答中的门控权重</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>Precision in memory</source>
            <translation>内存中的精度</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>Location</source>
            <translation>位置</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>on disk</source>
            <translation>在磁盘上</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>in memory</source>
            <translation>在内存中</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>in GPU memory</source>
            <translation>在显存中</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>Close expert details</source>
            <translation>关闭专家详情</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>Layer {layer}, expert {expert}</source>
            <translation>第 {layer} 层，专家 {expert}</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>{bits}-bit, {place}</source>
            <translation>{bits} 位，{place}</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>{held}; loading {bits}-bit</source>
            <translation>{held}；正在加载 {bits} 位</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>last {last}, average {mean}</source>
            <translation>最近 {last}，平均 {mean}</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>Used</source>
            <translation>使用</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>{answer:,} in this answer, {uses:,} since loading</source>
            <translation>本次回答 {answer:,} 次，加载以来 {uses:,} 次</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>Lower precision</source>
            <translation>低精度</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>Skipped</source>
            <translation>跳过</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>Gate weight</source>
            <translation>门控权重</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>none yet</source>
            <translation>暂无</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>{part} of {whole} in memory</source>
            <translation>内存中 {part}，共 {whole}</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>never</source>
            <translation>从未</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>{count:,} ({share:.0f}%)</source>
            <translation>{count:,} 次（{share:.0f}%）</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>Color legend</source>
            <translation>图例</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>One row per layer, one column per expert. Click one for details.</source>
            <translation>每行一层，每列一个专家。点击查看详情。</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>none</source>
            <translation>无</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>small</source>
            <translation>小</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>large</source>
            <translation>大</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>sometimes</source>
            <translation>偶尔</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>often</source>
            <translation>经常</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>{times} in this answer</source>
            <translation>此回答中{times}</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>{times} since loading</source>
            <translation>加载以来{times}</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>mean gate weight {weight:.2f}</source>
            <translation>平均门控权重 {weight:.2f}</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>not used</source>
            <translation>未使用</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>used {count} times</source>
            <translation>
                <numerusform>使用 {count} 次</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>Heatmap of layers and experts</source>
            <translation>层与专家的热力图</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>No model loaded</source>
            <translation>未加载模型</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>prefetched in time</source>
            <translation>预取及时</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>prefetched late</source>
            <translation>预取过晚</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>read on demand</source>
            <translation>按需读取</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Idle</source>
            <translation>空闲</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Speed</source>
            <translation>速度</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Time waiting for disk, last 30 s</source>
            <translation>等待磁盘的时间（最近 30 秒）</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Tokens per second, last 30 s</source>
            <translation>每秒词元数（最近 30 秒）</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Prompt tokens per second, last 30 s</source>
            <translation>提示词处理速度（最近 30 秒）</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Disk reads, last 30 s</source>
            <translation>磁盘读取（最近 30 秒）</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Prompt processing</source>
            <translation>处理提示词</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Waiting for disk</source>
            <translation>等待磁盘</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Cache hits and misses, last 30 s</source>
            <translation>缓存命中与未命中（最近 30 秒）</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Prefetch</source>
            <translation>预取</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Expert precision, last 30 s</source>
            <translation>专家精度（最近 30 秒）</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Expert requests</source>
            <translation>专家请求</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Disk</source>
            <translation>磁盘</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Expert precision</source>
            <translation>专家精度</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Plan</source>
            <translation>运行方案</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Using {amount} of {ceiling}</source>
            <translation>已用 {amount} / {ceiling}</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Using {amount}</source>
            <translation>已用 {amount}</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>GPU: {share} of them, CPU: the rest. {rate}/s to the GPU.</source>
            <translation>GPU：其中 {share}，其余由 CPU 计算。传到 GPU：{rate}/s。</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>No expert requests yet</source>
            <translation>还没有专家请求</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>&lt;1%</source>
            <translation>&lt;1%</translation>
        </message>
        <message>
            <location filename="../../app/theme/theme.py"></location>
            <source>32-bit</source>
            <translation>32 位</translation>
        </message>
        <message>
            <location filename="../../app/theme/theme.py"></location>
            <source>16-bit</source>
            <translation>16 位</translation>
        </message>
        <message>
            <location filename="../../app/theme/theme.py"></location>
            <source>8-bit</source>
            <translation>8 位</translation>
        </message>
        <message>
            <location filename="../../app/theme/theme.py"></location>
            <source>4-bit</source>
            <translation>4 位</translation>
        </message>
        <message>
            <location filename="../../app/theme/theme.py"></location>
            <source>2-bit</source>
            <translation>2 位</translation>
        </message>
        <message>
            <location filename="../../app/tool_servers.py"></location>
            <source>Connected, {tools}: {names}</source>
            <translation>已连接，{tools}：{names}</translation>
        </message>
        <message>
            <location filename="../../app/tool_servers.py"></location>
            <source>Change the server or start it again.</source>
            <translation>请更改服务器或重新启动它。</translation>
        </message>
        <message>
            <location filename="../../app/tool_servers.py"></location>
            <source>Not connected</source>
            <translation>未连接</translation>
        </message>
        <message>
            <location filename="../../app/transcript/code_controls.py"></location>
            <source>Preview</source>
            <translation>预览</translation>
        </message>
        <message>
            <location filename="../../app/transcript/code_controls.py"></location>
            <source>Show what it looks like, without scripts, images and network</source>
            <translation>显示效果（无脚本、图片和网络）</translation>
        </message>
        <message>
            <location filename="../../app/transcript/code_controls.py"></location>
            <source>Wrap lines</source>
            <translation>自动换行</translation>
        </message>
        <message>
            <location filename="../../app/transcript/code_controls.py"></location>
            <source>Wrap long lines in all code</source>
            <translation>所有代码的长行都自动换行</translation>
        </message>
        <message>
            <location filename="../../app/transcript/code_controls.py"></location>
            <source>Scroll code sideways</source>
            <translation>左右滚动代码</translation>
        </message>
        <message>
            <location filename="../../app/transcript/code_controls.py"></location>
            <source>Copy code</source>
            <translation>复制代码</translation>
        </message>
        <message>
            <location filename="../../app/transcript/details.py"></location>
            <source>Answer details</source>
            <translation>回答详情</translation>
        </message>
        <message>
            <location filename="../../app/transcript/details.py"></location>
            <source>Copy figures</source>
            <translation>复制数据</translation>
        </message>
        <message>
            <location filename="../../app/transcript/details.py"></location>
            <source>Save as a table (.csv) or image (.png)</source>
            <translation>保存为表格（.csv）或图片（.png）</translation>
        </message>
        <message>
            <location filename="../../app/transcript/details.py"></location>
            <source>Save…</source>
            <translation>保存…</translation>
        </message>
        <message>
            <location filename="../../app/transcript/details.py"></location>
            <source>Save figures</source>
            <translation>保存数据</translation>
        </message>
        <message>
            <location filename="../../app/transcript/details.py"></location>
            <source>the image can't be saved</source>
            <translation>图片无法写入</translation>
        </message>
        <message>
            <location filename="../../app/transcript/details.py"></location>
            <source>Table (*.csv);;Image (*.png)</source>
            <translation>表格 (*.csv);;图片 (*.png)</translation>
        </message>
        <message>
            <location filename="../../app/transcript/item.py"></location>
            <source>Thinking… {time}</source>
            <translation>思考中… {time}</translation>
        </message>
        <message>
            <location filename="../../app/transcript/item.py"></location>
            <source>Thought for {time}</source>
            <translation>思考了 {time}</translation>
        </message>
        <message>
            <location filename="../../app/transcript/item.py"></location>
            <source>Thoughts</source>
            <translation>思考内容</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Length limit reached</source>
            <translation>已达长度上限</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Context full. Start a new chat or raise the context length.</source>
            <translation>上下文已满。新建对话，或调高上下文长度。</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Many tool calls in a row. Continue to allow more.</source>
            <translation>连续多次调用工具。点击“继续”可允许更多调用。</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Stopped. The engine didn't respond and was restarted.</source>
            <translation>已停止。引擎没有响应，已重新启动。</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Generation failed</source>
            <translation>生成失败</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>One layer asking for one expert. A stretch of the prompt counts once.</source>
            <translation>某一层请求一个专家。提示词的一段只计一次。</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Tokens guessed ahead, checked several at once, and those that the answer has.</source>
            <translation>预先猜测、一次检查多个的词元，以及回答中实际采用的词元。</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Uses for which an expert in memory stood in for one that was missing (cache-aware routing).</source>
            <translation>由内存中的专家代替缺失专家的次数（缓存感知路由）。</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>One token going through one expert. Prompt tokens share requests.</source>
            <translation>一个词元经过一个专家。提示词的词元会共用请求。</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Sent to {host}</source>
            <translation>已发送至 {host}</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Messages above are outside the context</source>
            <translation>以上消息已不在上下文中</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/transcript/notes.py"></location>
            <source>Context full: {count:,} older messages not included</source>
            <translation>
                <numerusform>上下文已满：略去较早的 {count:,} 条消息</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/transcript/notes.py"></location>
            <source>{count:,} images not included: this model can't read images</source>
            <translation>
                <numerusform>未包含 {count:,} 张图片：此模型无法读取图片</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Answered by {model}</source>
            <translation>由 {model} 回答</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Interrupted when the app closed</source>
            <translation>应用关闭时中断</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Edited</source>
            <translation>已编辑</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>{time} to first token</source>
            <translation>首词元 {time}</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>{percent}% cache hits</source>
            <translation>缓存命中 {percent}%</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Sent to</source>
            <translation>发送至</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Tokens</source>
            <translation>词元数</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Time</source>
            <translation>用时</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>{accepted:,} of {drafted:,} tokens ({percent}%)</source>
            <translation>{accepted:,} / {drafted:,} 个 token（{percent}%）</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Accepted drafts</source>
            <translation>采用的草稿</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Thought for</source>
            <translation>思考用时</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Prompt</source>
            <translation>提示词</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>{count:,} tokens ({reused:,} cached)</source>
            <translation>{count:,} 词元（缓存 {reused:,}）</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Time to first token</source>
            <translation>首词元用时</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Prompt speed</source>
            <translation>提示词处理速度</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>{hits:,} of {uses:,} ({percent}%)</source>
            <translation>{hits:,} / {uses:,}（{percent}%）</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Cache hits</source>
            <translation>缓存命中</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Skipped experts</source>
            <translation>跳过的专家</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>{uses:,} ({percent}%)</source>
            <translation>{uses:,}（{percent}%）</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Replaced experts</source>
            <translation>被替代的专家</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Peak memory</source>
            <translation>内存峰值</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>{percent}% at {bits}-bit</source>
            <translation>{percent}% 为 {bits} 位</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>&lt; 0.1 s</source>
            <translation>&lt; 0.1 秒</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>{seconds} s</source>
            <translation>{seconds} 秒</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>{minutes} min {seconds} s</source>
            <translation>{minutes} 分 {seconds} 秒</translation>
        </message>
        <message>
            <location filename="../../app/transcript/page.py"></location>
            <source>Conversation</source>
            <translation>对话</translation>
        </message>
        <message>
            <location filename="../../app/transcript/page.py"></location>
            <source>Previous version</source>
            <translation>上一版本</translation>
        </message>
        <message>
            <location filename="../../app/transcript/page.py"></location>
            <source>Next version</source>
            <translation>下一版本</translation>
        </message>
        <message>
            <location filename="../../app/transcript/page.py"></location>
            <source>Show thinking</source>
            <translation>展开思考</translation>
        </message>
        <message>
            <location filename="../../app/transcript/page.py"></location>
            <source>Continue</source>
            <translation>继续生成</translation>
        </message>
        <message>
            <location filename="../../app/transcript/page.py"></location>
            <source>View attachment</source>
            <translation>查看附件</translation>
        </message>
        <message>
            <location filename="../../app/transcript/page.py"></location>
            <source>Read aloud</source>
            <translation>朗读</translation>
        </message>
        <message>
            <location filename="../../app/transcript/page.py"></location>
            <source>Regenerate</source>
            <translation>重新生成</translation>
        </message>
        <message>
            <location filename="../../app/transcript/page.py"></location>
            <source>Branch from here</source>
            <translation>从此处分支</translation>
        </message>
        <message>
            <location filename="../../app/transcript/page.py"></location>
            <source>Delete message</source>
            <translation>删除消息</translation>
        </message>
        <message>
            <location filename="../../app/transcript/page.py"></location>
            <source>Hide thinking</source>
            <translation>收起思考</translation>
        </message>
        <message>
            <location filename="../../app/transcript/page.py"></location>
            <source>Edit answer</source>
            <translation>编辑回答</translation>
        </message>
        <message>
            <location filename="../../app/transcript/page.py"></location>
            <source>Stop reading</source>
            <translation>停止朗读</translation>
        </message>
        <message>
            <location filename="../../app/transcript/page.py"></location>
            <source>Scroll to bottom</source>
            <translation>滚动到底部</translation>
        </message>
        <message>
            <location filename="../../app/transcript/paint.py"></location>
            <source>Tool call</source>
            <translation>工具调用</translation>
        </message>
        <message>
            <location filename="../../app/transcript/paint.py"></location>
            <source>More thinking</source>
            <translation>后续思考</translation>
        </message>
        <message>
            <location filename="../../app/transcript/paint.py"></location>
            <source>text</source>
            <comment>code in no known language</comment>
            <translation>文本</translation>
        </message>
        <message>
            <location filename="../../app/transcript/readable.py"></location>
            <source>Images: {names}</source>
            <translation>图片：{names}</translation>
        </message>
        <message>
            <location filename="../../app/transcript/readable.py"></location>
            <source>You: {text}</source>
            <translation>你：{text}</translation>
        </message>
        <message>
            <location filename="../../app/transcript/readable.py"></location>
            <source>Answer: {text}</source>
            <translation>回答：{text}</translation>
        </message>
        <message>
            <location filename="../../app/transcript/steps.py"></location>
            <source>Working</source>
            <translation>进行中</translation>
        </message>
        <message>
            <location filename="../../app/transcript/steps.py"></location>
            <source>Steps of the team</source>
            <translation>团队的步骤</translation>
        </message>
        <message>
            <location filename="../../app/transcript/steps.py"></location>
            <source>Internal note</source>
            <translation>内部备注</translation>
        </message>
        <message>
            <location filename="../../app/transcript/steps.py"></location>
            <source>No text yet</source>
            <translation>尚无文本</translation>
        </message>
        <message>
            <location filename="../../app/transcript/steps.py"></location>
            <source>Sources</source>
            <translation>来源</translation>
        </message>
        <message>
            <location filename="../../app/transcript/steps.py"></location>
            <source>Source {number}: {place}</source>
            <translation>来源 {number}：{place}</translation>
        </message>
        <message>
            <location filename="../../app/transcript/steps.py"></location>
            <source>Open file</source>
            <translation>打开文件</translation>
        </message>
        <message>
            <location filename="../../app/transcript/steps.py"></location>
            <source>page {number}</source>
            <translation>第 {number} 页</translation>
        </message>
        <message>
            <location filename="../../app/transcript/steps.py"></location>
            <source>line {number}</source>
            <translation>第 {number} 行</translation>
        </message>
        <message>
            <location filename="../../app/transcript/steps.py"></location>
            <source>lines {first}–{last}</source>
            <translation>第 {first}–{last} 行</translation>
        </message>
        <message>
            <location filename="../../app/transcript/tools.py"></location>
            <source>Running</source>
            <translation>正在运行</translation>
        </message>
        <message>
            <location filename="../../app/transcript/tools.py"></location>
            <source>Waiting for your permission</source>
            <translation>等待你的许可</translation>
        </message>
        <message>
            <location filename="../../app/transcript/tools.py"></location>
            <source>Denied</source>
            <translation>已拒绝</translation>
        </message>
        <message>
            <location filename="../../app/transcript/tools.py"></location>
            <source>Interrupted</source>
            <translation>已中断</translation>
        </message>
        <message>
            <location filename="../../app/transcript/tools.py"></location>
            <source>Allow once</source>
            <translation>允许一次</translation>
        </message>
        <message>
            <location filename="../../app/transcript/tools.py"></location>
            <source>Allow for this chat</source>
            <translation>在此对话中允许</translation>
        </message>
        <message>
            <location filename="../../app/transcript/tools.py"></location>
            <source>Always allow</source>
            <translation>始终允许</translation>
        </message>
        <message>
            <location filename="../../app/transcript/tools.py"></location>
            <source>Deny</source>
            <translation>拒绝</translation>
        </message>
        <message>
            <location filename="../../app/transcript/tools.py"></location>
            <source>Arguments</source>
            <translation>参数</translation>
        </message>
        <message>
            <location filename="../../app/transcript/tools.py"></location>
            <source>Result</source>
            <translation>结果</translation>
        </message>
        <message>
            <location filename="../../app/transcript/tools.py"></location>
            <source>Allow {server} to run {tool}?</source>
            <translation>允许 {server} 运行 {tool}？</translation>
        </message>
        <message>
            <location filename="../../app/transcript/tools.py"></location>
            <source>This call will be sent to {host}.</source>
            <translation>此调用将发送至 {host}。</translation>
        </message>
        <message>
            <location filename="../../app/transcript/tools.py"></location>
            <source>Nothing runs until you allow it.</source>
            <translation>未经你允许，什么都不会运行。</translation>
        </message>
        <message>
            <location filename="../../app/transcript/tools.py"></location>
            <source>Tool calls</source>
            <translation>工具调用</translation>
        </message>
        <message>
            <location filename="../../app/transcript/view.py"></location>
            <source>Can't show a preview of this code</source>
            <translation>无法预览此代码</translation>
        </message>
        <message>
            <location filename="../../app/transcript/view.py"></location>
            <source>View image</source>
            <translation>查看图片</translation>
        </message>
        <message>
            <location filename="../../app/transcript/view.py"></location>
            <source>Save image as…</source>
            <translation>图片另存为…</translation>
        </message>
        <message>
            <location filename="../../app/transcript/view.py"></location>
            <source>Copy link</source>
            <translation>复制链接</translation>
        </message>
        <message>
            <location filename="../../app/transcript/view.py"></location>
            <source>Copy selection</source>
            <translation>复制所选内容</translation>
        </message>
        <message>
            <location filename="../../app/transcript/view.py"></location>
            <source>Copy selection as Markdown</source>
            <translation>将所选内容复制为 Markdown</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Next chat</source>
            <translation>下一个对话</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Previous chat</source>
            <translation>上一个对话</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Find in this chat</source>
            <translation>在此对话中查找</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Undo delete</source>
            <translation>撤销删除</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Rename chat</source>
            <translation>重命名对话</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Delete chat</source>
            <translation>删除对话</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>New line</source>
            <translation>换行</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Stop, cancel edit, back to chat</source>
            <translation>停止、取消编辑、返回对话</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Regenerate the last answer</source>
            <translation>重新生成最后一个回答</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Continue the last answer</source>
            <translation>继续最后一个回答</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Edit the last message (when the box is empty)</source>
            <translation>编辑上一条消息（输入框为空时）</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Copy the last answer</source>
            <translation>复制最后一个回答</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Read the last answer aloud, stop reading</source>
            <translation>朗读最后一个回答、停止朗读</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Previous, next message</source>
            <translation>上一条、下一条消息</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Show or hide thinking</source>
            <translation>展开或收起思考</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Window</source>
            <translation>窗口</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Next pane</source>
            <translation>下一窗格</translation>
        </message>
        <message>
            <location filename="../../app/widgets/search_field.py"></location>
            <source>Clear search</source>
            <translation>清除搜索</translation>
        </message>
        <message>
            <location filename="../../app/widgets/search_field.py"></location>
            <source>Search</source>
            <translation>搜索</translation>
        </message>
        <message>
            <location filename="../../app/widgets/search_field.py"></location>
            <source>Previous match</source>
            <translation>上一处</translation>
        </message>
        <message>
            <location filename="../../app/widgets/search_field.py"></location>
            <source>Next match</source>
            <translation>下一处</translation>
        </message>
        <message>
            <location filename="../../app/widgets/search_field.py"></location>
            <source>Close search</source>
            <translation>关闭搜索</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/widgets/search_field.py"></location>
            <source>{at} of %n messages</source>
            <translation>
                <numerusform>第 {at} 条，共 %n 条消息</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/widgets/text.py"></location>
            <source>about 1 min left</source>
            <translation>剩余约 1 分钟</translation>
        </message>
        <message>
            <location filename="../../app/widgets/text.py"></location>
            <source>{seconds:.0f} s left</source>
            <translation>剩余 {seconds:.0f} 秒</translation>
        </message>
        <message>
            <location filename="../../app/widgets/text.py"></location>
            <source>{minutes:.0f} min left</source>
            <translation>剩余 {minutes:.0f} 分钟</translation>
        </message>
        <message>
            <location filename="../../app/widgets/text.py"></location>
            <source>{hours:.1f} h left</source>
            <translation>剩余 {hours:.1f} 小时</translation>
        </message>
    </context>
    <context>
        <name>engine</name>
        <message>
            <location filename="../../engine/calibration/calibrator.py"></location>
            <source>T1 and T2 are defaults until this model is calibrated.</source>
            <translation>校准完成前，T1 和 T2 使用默认值。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/calibrator.py"></location>
            <source>Calibrating</source>
            <translation>正在校准</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/card_check.py"></location>
            <source>Checked an answer on {name} against the CPU: KL divergence {kl} over {tokens} tokens.</source>
            <translation>已在 {name} 上将一段回答与 CPU 比对：{tokens} 个词元的 KL 散度为 {kl}。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/card_check.py"></location>
            <source>{name} and the CPU give different results: answers differ by {worst}.</source>
            <translation>{name} 与 CPU 的结果不同：回答相差 {worst}。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/card_check.py"></location>
            <source>Please report this with the name of the GPU. The CPU is used instead.</source>
            <translation>请附上 GPU 型号报告此问题。现在改用 CPU。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/divergence.py"></location>
            <source>There is no answer to compare.</source>
            <translation>没有可对比的回答。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/divergence.py"></location>
            <source>Ask a question first.</source>
            <translation>请先提问。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/evaluate.py"></location>
            <source>{file} doesn't exist.</source>
            <translation>{file} 不存在。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/evaluate.py"></location>
            <source>Check the path.</source>
            <translation>请检查路径。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/evaluate.py"></location>
            <source>Can't read {file} as text.</source>
            <translation>无法将 {file} 作为文本读取。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/evaluate.py"></location>
            <source>Give a UTF-8 text file.</source>
            <translation>请提供 UTF-8 文本文件。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/evaluate.py"></location>
            <source>{file} holds less than two tokens.</source>
            <translation>{file} 不足两个词元。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/evaluate.py"></location>
            <source>Give a longer text.</source>
            <translation>请提供更长的文本。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/evaluate.py"></location>
            <source>{file} has a line that is not a chat.</source>
            <translation>{file} 中有一行不是对话。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/evaluate.py"></location>
            <source>Each line is a JSON object with "messages", each of which has a "role" and a "content".</source>
            <translation>每行是一个 JSON 对象，其中的 "messages" 各有 "role" 和 "content"。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/idle_tasks.py"></location>
            <source>Checking the GPU</source>
            <translation>正在检查 GPU</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/idle_tasks.py"></location>
            <source>Can't check the GPU: {sentence}</source>
            <translation>无法检查 GPU：{sentence}</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/idle_tasks.py"></location>
            <source>Measuring quality ({share}%)</source>
            <translation>正在测量质量（{share}%）</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/idle_tasks.py"></location>
            <source>Can't measure quality: {sentence}</source>
            <translation>无法测量质量：{sentence}</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/idle_tasks.py"></location>
            <source>Training gates ({share}%)</source>
            <translation>正在训练门控（{share}%）</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/idle_tasks.py"></location>
            <source>Can't train gates: {sentence}</source>
            <translation>无法训练门控：{sentence}</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/idle_tasks.py"></location>
            <source>Training predictors ({share}%)</source>
            <translation>正在训练预测器（{share}%）</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/idle_tasks.py"></location>
            <source>Can't train predictors: {sentence}</source>
            <translation>无法训练预测器：{sentence}</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/idle_tasks.py"></location>
            <source>Fitting eviction weights ({share}%)</source>
            <translation>正在拟合淘汰权重（{share}%）</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/idle_tasks.py"></location>
            <source>Can't fit eviction weights: {sentence}</source>
            <translation>无法拟合淘汰权重：{sentence}</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/idle_tasks.py"></location>
            <source>Measuring this computer ({total}%)</source>
            <translation>正在测量这台电脑（{total}%）</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/lowering_search.py"></location>
            <source>A loss of {tolerance}% isn't possible.</source>
            <translation>损失上限不能设为 {tolerance}%。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/lowering_search.py"></location>
            <source>Choose {least}% to {most}%.</source>
            <translation>可选 {least}% 到 {most}%。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/lowering_search.py"></location>
            <source>Testing {bits}-bit shared weights</source>
            <translation>正在测试 {bits} 位共享权重</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/lowering_search.py"></location>
            <source>{name} has been shrunk already.</source>
            <translation>{name} 已经缩小过。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/lowering_search.py"></location>
            <source>Restore the original first, or import the model again.</source>
            <translation>先恢复原模型，或重新导入该模型。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/lowering_search.py"></location>
            <source>{name} isn't stored with 4 or 8 bits.</source>
            <translation>{name} 不是以 4 位或 8 位存储的。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/lowering_search.py"></location>
            <source>Import the model again with a precision of 4 or 8 bits.</source>
            <translation>以 4 位或 8 位精度重新导入该模型。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/robustness.py"></location>
            <source>Comparing 2-bit experts</source>
            <translation>正在比较精度为 2 位的专家</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/robustness.py"></location>
            <source>Lowering one layer at a time</source>
            <translation>正在逐层降低精度</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/robustness.py"></location>
            <source>Lowering one expert at a time</source>
            <translation>正在逐个降低专家精度</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/robustness.py"></location>
            <source>Finding the lowest precision</source>
            <translation>正在寻找最低精度</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/robustness.py"></location>
            <source>Finding how many experts to reduce</source>
            <translation>正在确定可降低的专家数</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/teaching.py"></location>
            <source>Stopped.</source>
            <translation>已停止。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/encoding.py"></location>
            <source>The weights of {name} are not finite numbers.</source>
            <translation>{name} 的权重不是有限数值。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/expert_plan.py"></location>
            <source>config.json names no num_hidden_layers.</source>
            <translation>config.json 没有写明 num_hidden_layers。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/expert_plan.py"></location>
            <source>{name} has the impossible shape {shape}.</source>
            <translation>{name} 的形状 {shape} 不合理。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/expert_plan.py"></location>
            <source>Expert {expert} of layer {layer} is not complete: its {part} matrix is missing.</source>
            <translation>第 {layer} 层的专家 {expert} 不完整：缺少 {part} 矩阵。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/expert_plan.py"></location>
            <source>The experts of layer {layer} are not in this checkpoint ({target}).</source>
            <translation>此检查点中没有第 {layer} 层的专家（{target}）。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/expert_plan.py"></location>
            <source>Expert {number} of layer {layer} is not complete in this checkpoint.</source>
            <translation>此检查点中第 {layer} 层的专家 {number} 不完整。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/expert_plan.py"></location>
            <source>The experts of this model are stored in a way that Underhill does not know ({key}).</source>
            <translation>此模型的专家以 Underhill 不认识的方式保存（{key}）。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/expert_plan.py"></location>
            <source>Look for the same model in its original format.</source>
            <translation>请寻找同一模型的原始格式。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/expert_plan.py"></location>
            <source>A file of the model is missing; download it again.</source>
            <translation>模型缺少一个文件；请重新下载。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/importer.py"></location>
            <source>Checking source files</source>
            <translation>正在检查源文件</translation>
        </message>
        <message>
            <location filename="../../engine/convert/importer.py"></location>
            <source>Reading model structure</source>
            <translation>正在读取模型结构</translation>
        </message>
        <message>
            <location filename="../../engine/convert/importer.py"></location>
            <source>Import stopped.</source>
            <translation>导入已停止。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/importer.py"></location>
            <source>Import again to resume.</source>
            <translation>再次导入即可继续。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/importer.py"></location>
            <source>{name} bias</source>
            <translation>{name} 偏置</translation>
        </message>
        <message>
            <location filename="../../engine/convert/importer.py"></location>
            <source>The experts cannot be stored like this: {cause}.</source>
            <translation>专家无法这样保存：{cause}。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/importer.py"></location>
            <source>Copying shared weights</source>
            <translation>正在复制共享权重</translation>
        </message>
        <message>
            <location filename="../../engine/convert/importer.py"></location>
            <source>Quantizing layer {index} of {last}</source>
            <translation>正在量化第 {index} 层，共 {last} 层</translation>
        </message>
        <message>
            <location filename="../../engine/convert/importer.py"></location>
            <source>{name} holds numbers that are not finite.</source>
            <translation>{name} 含有非有限的数。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/importer.py"></location>
            <source>The {name} of expert {expert} in layer {layer} has another shape than its neighbours.</source>
            <translation>第 {layer} 层专家 {expert} 的 {name} 与相邻专家的形状不同。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/pieces.py"></location>
            <source>{key} has the unsupported type {dtype}.</source>
            <translation>{key} 的类型 {dtype} 不受支持。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/pieces.py"></location>
            <source>Use the model in its original precision.</source>
            <translation>使用此模型的原始精度版本。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/skeleton.py"></location>
            <source>it reads images and does not chat</source>
            <translation>它用来读图，不能对话</translation>
        </message>
        <message>
            <location filename="../../engine/convert/skeleton.py"></location>
            <source>it writes whole blocks at once by diffusion, not word by word</source>
            <translation>它用扩散方式一次写出整段，而不是逐词写出</translation>
        </message>
        <message>
            <location filename="../../engine/convert/skeleton.py"></location>
            <source>it needs {name}, which Underhill does not bring</source>
            <translation>它需要 {name}，而 Underhill 没有附带</translation>
        </message>
        <message>
            <location filename="../../engine/convert/skeleton.py"></location>
            <source>its layers hold several sets of experts</source>
            <translation>它的每层有多组专家</translation>
        </message>
        <message>
            <location filename="../../engine/convert/skeleton.py"></location>
            <source>it is an encoder-decoder model, made for translation and the like, not for chat</source>
            <translation>它是编码器-解码器模型，用于翻译等任务，不用于对话</translation>
        </message>
        <message>
            <location filename="../../engine/convert/skeleton.py"></location>
            <source>its experts cannot be taken out of the model and loaded one by one</source>
            <translation>它的专家无法从模型中取出并逐个加载</translation>
        </message>
        <message>
            <location filename="../../engine/convert/skeleton.py"></location>
            <source>there is no model in it that writes text token by token</source>
            <translation>其中没有逐个词元写出文本的模型</translation>
        </message>
        <message>
            <location filename="../../engine/convert/skeleton.py"></location>
            <source>The config.json does not say what kind of model this is.</source>
            <translation>config.json 没有写明这是哪种模型。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/skeleton.py"></location>
            <source>the library that Underhill builds on does not know this family</source>
            <translation>Underhill 所用的库不认识这个模型系列</translation>
        </message>
        <message>
            <location filename="../../engine/convert/skeleton.py"></location>
            <source>The config.json of this {model_type} model cannot be read.</source>
            <translation>无法读取这个 {model_type} 模型的 config.json。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/skeleton.py"></location>
            <source>Download it again.</source>
            <translation>请重新下载。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/skeleton.py"></location>
            <source>The experts module {name} is in no layer.</source>
            <translation>专家模块 {name} 不在任何一层中。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/skeleton.py"></location>
            <source>{model_type} models aren't supported: {reason}.</source>
            <translation>不支持 {model_type} 模型：{reason}。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/skeleton.py"></location>
            <source>Choose another model.</source>
            <translation>请选择其他模型。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/skeleton.py"></location>
            <source>The experts of this model use an activation that the kernels do not have ({activation_name}).</source>
            <translation>此模型的专家使用了内核所没有的激活函数（{activation_name}）。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/skeleton.py"></location>
            <source>the gate of {name}</source>
            <translation>{name} 的门控</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>Update the driver, or set “Compute device” to CPU.</source>
            <translation>更新驱动程序，或将“计算设备”设为 CPU。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>No NVIDIA GPU driver found.</source>
            <translation>未找到 NVIDIA GPU 驱动程序。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>Install NVIDIA's driver, or set “Compute device” to CPU.</source>
            <translation>安装 NVIDIA 驱动程序，或将“计算设备”设为 CPU。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>The GPU driver is too old: it has no {function}.</source>
            <translation>GPU 驱动程序过旧：缺少 {function}。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>Not enough GPU memory.</source>
            <translation>显存不足。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>Close other apps that use the GPU, or set “Compute device” to CPU.</source>
            <translation>关闭其他使用 GPU 的应用，或将“计算设备”设为 CPU。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>The GPU driver is too old.</source>
            <translation>GPU 驱动程序过旧。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>The GPU driver was updated but isn't in use yet.</source>
            <translation>GPU 驱动程序已更新，但尚未启用。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>Restart the computer.</source>
            <translation>请重新启动电脑。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>The GPU driver can't load the kernels for this card.</source>
            <translation>GPU 驱动程序无法为此显卡加载内核。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>The GPU is in use by another app.</source>
            <translation>GPU 正被其他应用独占。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>Close that app, or set “Compute device” to CPU.</source>
            <translation>关闭该应用，或将“计算设备”设为 CPU。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>The GPU stopped working ({code}).</source>
            <translation>GPU 停止工作（{code}）。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>Reload the model. If it happens again, update the driver or restart the computer.</source>
            <translation>重新加载模型。如果再次发生，更新驱动程序或重新启动电脑。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>The GPU driver failed: {function} returned {code}.</source>
            <translation>GPU 驱动程序出错：{function} 返回 {code}。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/layer_proof.py"></location>
            <source>{name} and the CPU give different results: attention differs by {worst}.</source>
            <translation>{name} 与 CPU 的结果不同：注意力相差 {worst}。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/linears.py"></location>
            <source>{name} and the CPU give different results: shared weights differ by {worst}.</source>
            <translation>{name} 与 CPU 的计算结果不同：共享权重相差 {worst}。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/encoder.py"></location>
            <source>The model that searches documents is missing.</source>
            <translation>缺少用于搜索文档的模型。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/encoder.py"></location>
            <source>Reinstall the app.</source>
            <translation>重新安装应用。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/encoder.py"></location>
            <source>The model that searches documents is damaged.</source>
            <translation>用于搜索文档的模型已损坏。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/indexer.py"></location>
            <source>{file} can't be found.</source>
            <translation>找不到 {file}。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/indexer.py"></location>
            <source>It was moved or its disk is away. Attach it again.</source>
            <translation>它已被移动，或所在磁盘未连接。重新添加。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/indexer.py"></location>
            <source>No permission to read {file}.</source>
            <translation>没有读取 {file} 的权限。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/indexer.py"></location>
            <source>The folder has more than {count} files.</source>
            <translation>文件夹中的文件超过 {count} 个。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/indexer.py"></location>
            <source>{file} is nested too deeply.</source>
            <translation>{file} 的文件夹层级过深。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/indexer.py"></location>
            <source>{file} is a link out of the folder.</source>
            <translation>{file} 是指向文件夹外的链接。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/indexer.py"></location>
            <source>Can't read {file}.</source>
            <translation>无法读取 {file}。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/indexer.py"></location>
            <source>Reading {file}</source>
            <translation>正在读取 {file}</translation>
        </message>
        <message>
            <location filename="../../engine/documents/indexer.py"></location>
            <source>The folder has more text than can be searched.</source>
            <translation>文件夹中的文本超出可搜索的量。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/indexer.py"></location>
            <source>Indexing {file}</source>
            <translation>正在索引 {file}</translation>
        </message>
        <message>
            <location filename="../../engine/documents/reading.py"></location>
            <source>{file} contains no text.</source>
            <translation>{file} 中没有文本。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/reading.py"></location>
            <source>It may be a scan. Images can't be read.</source>
            <translation>可能是扫描件，无法读取图片。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/reading.py"></location>
            <source>The file is empty.</source>
            <translation>文件为空。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/reading.py"></location>
            <source>{file} is a device, not a file.</source>
            <translation>{file} 是设备，不是文件。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/reading.py"></location>
            <source>Choose another file.</source>
            <translation>请选择其他文件。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/reading.py"></location>
            <source>The path of {file} is too long.</source>
            <translation>{file} 的路径过长。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/reading.py"></location>
            <source>Move the file to another folder or shorten its name.</source>
            <translation>把文件移到其他文件夹，或缩短文件名。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/reading.py"></location>
            <source>{file} is a folder.</source>
            <translation>{file} 是文件夹。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/reading.py"></location>
            <source>Attach single files.</source>
            <translation>只添加单个文件。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/reading.py"></location>
            <source>{file} no longer exists.</source>
            <translation>{file} 已不存在。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/reading.py"></location>
            <source>Change its permissions or attach a copy.</source>
            <translation>更改其权限，或添加一份副本。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/reading.py"></location>
            <source>Check the file and its disk.</source>
            <translation>请检查该文件及其所在磁盘。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/reading.py"></location>
            <source>{file} isn't a text file.</source>
            <translation>{file} 不是文本文件。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/reading.py"></location>
            <source>Text, code and PDF files can be attached.</source>
            <translation>可以添加文本、代码和 PDF 文件。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/reading.py"></location>
            <source>{file} is password-protected.</source>
            <translation>{file} 受密码保护。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/reading.py"></location>
            <source>Save it without a password, then attach it.</source>
            <translation>另存为无密码的文件后再添加。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/reading.py"></location>
            <source>Reading {file} took too long.</source>
            <translation>读取 {file} 耗时过长。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/reading.py"></location>
            <source>Attach fewer pages.</source>
            <translation>只添加需要的页面。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/reading.py"></location>
            <source>Reading {file} needs too much memory.</source>
            <translation>读取 {file} 占用内存过多。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/reading.py"></location>
            <source>Can't read {file} as a PDF.</source>
            <translation>无法将 {file} 作为 PDF 读取。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/reading.py"></location>
            <source>Open it in a PDF viewer and copy the text you need.</source>
            <translation>在 PDF 阅读器中打开，复制需要的文本。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/reading.py"></location>
            <source>{file} is too large ({size} MB).</source>
            <translation>{file} 太大（{size} MB）。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/reading.py"></location>
            <source>Attach a smaller part.</source>
            <translation>只添加需要的部分。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/reading.py"></location>
            <source>{file} is an image. Only text is read from documents.</source>
            <translation>{file} 是图片。文档中只读取文字。</translation>
        </message>
        <message>
            <location filename="../../engine/documents/reading.py"></location>
            <source>Attach text, code or PDF files, or describe the image in words.</source>
            <translation>可以添加文本、代码和 PDF 文件，或用文字描述图片内容。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/asking.py"></location>
            <source>{host} has no model {model}.</source>
            <translation>{host} 没有模型 {model}。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/asking.py"></location>
            <source>It has: {names}</source>
            <translation>它有：{names}</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/asking.py"></location>
            <source>something that is not a list of models</source>
            <translation>不是模型列表的内容</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/asking.py"></location>
            <source>something that is not a stream of events</source>
            <translation>不是事件流的内容</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/asking.py"></location>
            <source>an answer without end</source>
            <translation>没完没了的应答</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/asking.py"></location>
            <source>something that is not an answer of a model</source>
            <translation>不是模型回答的内容</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/asking.py"></location>
            <source>{file} holds no certificates that can be read.</source>
            <translation>{file} 中没有可读取的证书。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/asking.py"></location>
            <source>Choose a file in PEM form in the endpoint, or none.</source>
            <translation>在端点中选择 PEM 格式的文件，或不选择文件。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/definition.py"></location>
            <source>An endpoint needs a name of at most {most} characters.</source>
            <translation>端点需要一个不超过 {most} 个字符的名称。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/definition.py"></location>
            <source>{shown} isn't the address of a server.</source>
            <translation>{shown} 不是服务器地址。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/definition.py"></location>
            <source>It looks like http://workstation/v1.</source>
            <translation>地址形如 http://workstation/v1。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/definition.py"></location>
            <source>Address, model and file have at most {most} characters.</source>
            <translation>地址、模型和文件最多 {most} 个字符。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/definition.py"></location>
            <source>Which model shall answer?</source>
            <translation>由哪个模型回答？</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/definition.py"></location>
            <source>Test the connection to see the models of this server.</source>
            <translation>测试连接即可看到这台服务器上的模型。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/errors.py"></location>
            <source>Edit the endpoint to enter its key.</source>
            <translation>编辑端点并输入它的密钥。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/errors.py"></location>
            <source>Check that the server runs, then send your message again.</source>
            <translation>确认服务器正在运行，然后重新发送消息。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/errors.py"></location>
            <source>The certificate of {host} isn't trusted ({why}).</source>
            <translation>{host} 的证书不受信任（{why}）。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/errors.py"></location>
            <source>If the server has a certificate authority of its own, choose its file in the endpoint.</source>
            <translation>如果服务器有自己的证书颁发机构，在端点中选择它的文件。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/errors.py"></location>
            <source>No encrypted connection with {host}.</source>
            <translation>无法与 {host} 建立加密连接。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/errors.py"></location>
            <source>Check whether its address starts with https:// or http://.</source>
            <translation>检查地址应以 https:// 还是 http:// 开头。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/errors.py"></location>
            <source>{host} sent nothing for {minutes} min.</source>
            <translation>{host} 已有 {minutes} 分钟没有发送任何内容。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/errors.py"></location>
            <source>{host} closed the connection before its answer ended.</source>
            <translation>{host} 在回答结束前关闭了连接。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/errors.py"></location>
            <source>Unexpected answer from {host}: {what}.</source>
            <translation>{host} 返回异常：{what}。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/errors.py"></location>
            <source>Check the address; most end in /v1.</source>
            <translation>检查地址；多数地址以 /v1 结尾。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/errors.py"></location>
            <source>{host} ended the answer with an error.</source>
            <translation>{host} 因出错结束了回答。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/errors.py"></location>
            <source>{host} rejected the key.</source>
            <translation>{host} 拒绝了密钥。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/errors.py"></location>
            <source>{host} needs a key.</source>
            <translation>{host} 需要密钥。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/errors.py"></location>
            <source>{host} has no model {model}, or nothing at this address.</source>
            <translation>{host} 没有模型 {model}，或者这个地址上没有服务。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/errors.py"></location>
            <source>Edit the endpoint to check both; most addresses end in /v1.</source>
            <translation>编辑端点以检查两者；多数地址以 /v1 结尾。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/errors.py"></location>
            <source>Too many requests to {host}.</source>
            <translation>对 {host} 的请求过多。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/errors.py"></location>
            <source>Server error at {host} ({status}).</source>
            <translation>{host} 服务器错误（{status}）。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/errors.py"></location>
            <source>{host} sends requests on to {target}.</source>
            <translation>{host} 将请求转到 {target}。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/errors.py"></location>
            <source>If you trust that address, enter it instead: your key is not sent there by itself.</source>
            <translation>如果信任那个地址，改为输入它：密钥不会自动发送到那里。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/errors.py"></location>
            <source>{host} refused the request ({status}).</source>
            <translation>{host} 拒绝了请求（{status}）。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/errors.py"></location>
            <source>It says: {said}.</source>
            <translation>对方的说明：{said}。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/errors.py"></location>
            <source>Try again later.</source>
            <translation>请稍后再试。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/errors.py"></location>
            <source>Wait {after} s, then try again.</source>
            <translation>等待 {after} 秒后重试。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/errors.py"></location>
            <source>Wait {ceil} min, then try again.</source>
            <translation>等待 {ceil} 分钟后重试。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/folder.py"></location>
            <source>Delete it and add your endpoints again.</source>
            <translation>删除它，然后重新添加端点。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/folder.py"></location>
            <source>There is no endpoint called {name}.</source>
            <translation>没有名为 {name} 的端点。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/folder.py"></location>
            <source>Add it on the models page.</source>
            <translation>在模型页面添加。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/folder.py"></location>
            <source>There is an endpoint named {name} already.</source>
            <translation>已有名为 {name} 的端点。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/folder.py"></location>
            <source>Choose another name.</source>
            <translation>换一个名称。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/folder.py"></location>
            <source>There are {most} endpoints already.</source>
            <translation>已有 {most} 个端点。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/folder.py"></location>
            <source>Delete one first.</source>
            <translation>先删除一个。</translation>
        </message>
        <message>
            <location filename="../../engine/endpoints/folder.py"></location>
            <source>A key has letters, digits and signs, and no spaces.</source>
            <translation>密钥由字母、数字和符号组成，不含空格。</translation>
        </message>
        <message>
            <location filename="../../engine/errors.py"></location>
            <source>Download the model again.</source>
            <translation>请重新下载模型。</translation>
        </message>
        <message>
            <location filename="../../engine/errors.py"></location>
            <source>Something went wrong.</source>
            <translation>出了点问题。</translation>
        </message>
        <message>
            <location filename="../../engine/errors.py"></location>
            <source>Try again. If it happens again, report the details.</source>
            <translation>重试一次。如果再次发生，请报告详细信息。</translation>
        </message>
        <message>
            <location filename="../../engine/errors.py"></location>
            <source>Not enough memory.</source>
            <translation>内存不足。</translation>
        </message>
        <message>
            <location filename="../../engine/errors.py"></location>
            <source>Close other apps or lower the memory limit.</source>
            <translation>关闭其他应用，或调低内存上限。</translation>
        </message>
        <message>
            <location filename="../../engine/errors.py"></location>
            <source>The disk is full.</source>
            <translation>磁盘已满。</translation>
        </message>
        <message>
            <location filename="../../engine/errors.py"></location>
            <source>Free some space, then try again.</source>
            <translation>释放一些空间，然后重试。</translation>
        </message>
        <message>
            <location filename="../../engine/errors.py"></location>
            <source>Disk error: {strerror} ({filename}).</source>
            <translation>磁盘错误：{strerror}（{filename}）。</translation>
        </message>
        <message>
            <location filename="../../engine/errors.py"></location>
            <source>Disk error: {strerror}.</source>
            <translation>磁盘错误：{strerror}。</translation>
        </message>
        <message>
            <location filename="../../engine/errors.py"></location>
            <source>Check that the disk is connected and writable.</source>
            <translation>检查磁盘是否已连接且可写入。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/cache/expert_cache.py"></location>
            <source>Not enough memory for experts.</source>
            <translation>没有内存可供专家使用。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/cache/expert_cache.py"></location>
            <source>An expert cache of {capacity} bytes cannot hold a single expert.</source>
            <translation>{capacity} 字节的专家缓存连一个专家也放不下。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/cache/expert_cache.py"></location>
            <source>Give it at least {least} bytes.</source>
            <translation>请至少给它 {least} 字节。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/card_mode.py"></location>
            <source>The experts of this model are not quantized, so they can't run on the GPU.</source>
            <translation>此模型的专家未量化，无法在 GPU 上运行。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/card_mode.py"></location>
            <source>Import the model with quantized experts.</source>
            <translation>请以量化专家重新导入此模型。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/card_mode.py"></location>
            <source>{name} is too old to compute experts.</source>
            <translation>{name} 太旧，无法计算专家。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/card_mode.py"></location>
            <source>Set “Compute device” to CPU.</source>
            <translation>请将“计算设备”设为 CPU。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/eam.py"></location>
            <source>There is no file {path}.</source>
            <translation>没有文件 {path}。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/eam.py"></location>
            <source>It is made as the model is used.</source>
            <translation>它会在使用模型时生成。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/eam.py"></location>
            <source>{path} holds no activation matrices of this model.</source>
            <translation>{path} 中没有属于此模型的激活矩阵。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/eam.py"></location>
            <source>Delete it; it is made anew.</source>
            <translation>请删除它；它会重新生成。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/execution/card_proof.py"></location>
            <source>{name} and the CPU give different results: {tier}-bit experts differ by {worst}.</source>
            <translation>{name} 与 CPU 的结果不同：精度为 {tier} 位的专家相差 {worst}。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/loading/pending.py"></location>
            <source>The expert cache is busy.</source>
            <translation>专家缓存正忙。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/loading/pending.py"></location>
            <source>Try again.</source>
            <translation>请重试。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/policies/__init__.py"></location>
            <source>There is no cache policy called {name}.</source>
            <translation>没有名为 {name} 的缓存策略。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/policies/__init__.py"></location>
            <source>Choose one of {names}.</source>
            <translation>请从 {names} 中选择一个。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/policies/hobbit.py"></location>
            <source>The cache policy's weights {weights} are not possible.</source>
            <translation>缓存策略的权重 {weights} 无效。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/policies/hobbit.py"></location>
            <source>They go from 0 to 1 and sum to 1.</source>
            <translation>每个权重在 0 到 1 之间，总和为 1。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/precision.py"></location>
            <source>The thresholds T1 = {t1} and T2 = {t2} are not possible.</source>
            <translation>阈值 T1 = {t1}、T2 = {t2} 无效。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/precision.py"></location>
            <source>They go from 0 to 1, and T1 is not above T2.</source>
            <translation>它们在 0 到 1 之间，且 T1 不大于 T2。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/runtime.py"></location>
            <source>This model has no {tier}-bit experts.</source>
            <translation>此模型没有精度为 {tier} 位的专家。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/runtime.py"></location>
            <source>It holds {stored} bits.</source>
            <translation>它的专家精度为 {stored} 位。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/checkpoint.py"></location>
            <source>{path} is not a model: it has no {config}.</source>
            <translation>{path} 不是模型：里面没有 {config}。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/checkpoint.py"></location>
            <source>There is no {path} on this computer.</source>
            <translation>这台电脑上没有 {path}。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/checkpoint.py"></location>
            <source>{path} is not a model: it is no GGUF file.</source>
            <translation>{path} 不是模型：它不是 GGUF 文件。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/checkpoint.py"></location>
            <source>Choose the folder that holds config.json and the .safetensors files, or a GGUF file.</source>
            <translation>请选择存放 config.json 和 .safetensors 文件的文件夹，或 GGUF 文件。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/checkpoint.py"></location>
            <source>{config} in {path} names no model_type.</source>
            <translation>{path} 中的 {config} 没有写明 model_type。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/checkpoint.py"></location>
            <source>{path} stores weights as {other}. Only safetensors is supported.</source>
            <translation>{path} 的权重为 {other} 格式。只支持 safetensors。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/checkpoint.py"></location>
            <source>{index} in {path} is damaged.</source>
            <translation>{path} 中的 {index} 已损坏。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/checkpoint.py"></location>
            <source>{index} names the file {shard}.</source>
            <translation>{index} 中写有文件 {shard}。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/checkpoint.py"></location>
            <source>{shard} lacks the tensor {name} that {index} promises.</source>
            <translation>{shard} 缺少 {index} 中写明的张量 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/checkpoint.py"></location>
            <source>{name} is impossibly long.</source>
            <translation>{name} 长得不合理。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/checkpoint.py"></location>
            <source>{name} in {parent} is not readable.</source>
            <translation>无法读取 {parent} 中的 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/checkpoint.py"></location>
            <source>{name} in {parent} is not a JSON object.</source>
            <translation>{parent} 中的 {name} 不是 JSON 对象。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/errors.py"></location>
            <source>Download the file again.</source>
            <translation>请重新下载该文件。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/errors.py"></location>
            <source>Use another version of the model.</source>
            <translation>使用该模型的其他版本。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/errors.py"></location>
            <source>Use the model in safetensors format.</source>
            <translation>使用 safetensors 格式的模型。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/errors.py"></location>
            <source>Can't read {path} ({strerror}).</source>
            <translation>无法读取 {path}（{strerror}）。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/errors.py"></location>
            <source>Check the disk and its permissions.</source>
            <translation>请检查磁盘及其权限。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/errors.py"></location>
            <source>{name} is missing from {parent}.</source>
            <translation>{parent} 中缺少 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/errors.py"></location>
            <source>The checkpoint lacks the tensor {name}.</source>
            <translation>检查点缺少张量 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/families.py"></location>
            <source>The config.json of this {config} model does not fit together.</source>
            <translation>这个 {config} 模型的 config.json 前后矛盾。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/families.py"></location>
            <source>Download it again; if that does not help, the model needs another version of Underhill.</source>
            <translation>请重新下载；如果没有用，这个模型需要其他版本的 Underhill。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/families.py"></location>
            <source>This {kind} model is dense. Only Mixture-of-Experts models are supported.</source>
            <translation>此 {kind} 模型是稠密模型。只支持混合专家（MoE）模型。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/families.py"></location>
            <source>Choose a Mixture-of-Experts model.</source>
            <translation>选择混合专家（MoE）模型。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/families.py"></location>
            <source>This quantization isn't supported ({method}).</source>
            <translation>不支持此量化方式（{method}）。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/families.py"></location>
            <source>Use the original precision, a GGUF, GPTQ or AWQ version.</source>
            <translation>使用原始精度、GGUF、GPTQ 或 AWQ 版本。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_configs.py"></location>
            <source>This GGUF file has no heads or no embeddings.</source>
            <translation>这个 GGUF 文件没有注意力头或嵌入。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_configs.py"></location>
            <source>This GGUF file stretches its context by {kind}, which Underhill does not read from GGUF.</source>
            <translation>这个 GGUF 文件用 {kind} 扩展上下文，Underhill 不能从 GGUF 读取这种方式。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_configs.py"></location>
            <source>The GGUF file lacks the tensor {name}.</source>
            <translation>GGUF 文件缺少张量 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_deltanet.py"></location>
            <source>The GGUF file lacks attn_gate beside {name}.</source>
            <translation>GGUF 文件中 {name} 旁缺少 attn_gate。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_deltanet.py"></location>
            <source>{name} is damaged: {name2} has the shape {shape}.</source>
            <translation>{name} 已损坏：{name2} 的形状为 {shape}。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_header.py"></location>
            <source>{folder} holds {models} models as GGUF files.</source>
            <translation>{folder} 中有 {models} 个 GGUF 模型文件。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_header.py"></location>
            <source>Choose one of the files: {models}.</source>
            <translation>请选择其中一个文件：{models}。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_header.py"></location>
            <source>it does not begin like a GGUF file</source>
            <translation>它的开头不像 GGUF 文件</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_header.py"></location>
            <source>{name} is a GGUF file for big-endian computers.</source>
            <translation>{name} 是用于大端序电脑的 GGUF 文件。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_header.py"></location>
            <source>{name} is GGUF version {version}, which isn't supported.</source>
            <translation>{name} 是 GGUF 第 {version} 版，不受支持。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_header.py"></location>
            <source>it claims an impossible number of tensors</source>
            <translation>它写明的张量数量不合理</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_header.py"></location>
            <source>{name} has {dimensions} dimensions</source>
            <translation>{name} 有 {dimensions} 个维度</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_header.py"></location>
            <source>the shape of {name} is impossible</source>
            <translation>{name} 的形状不合理</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_header.py"></location>
            <source>its alignment is impossible</source>
            <translation>它的对齐方式不合理</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_header.py"></location>
            <source>{name} overlaps {before}</source>
            <translation>{name} 与 {before} 重叠</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_header.py"></location>
            <source>the header</source>
            <translation>文件头</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_header.py"></location>
            <source>two {name}</source>
            <translation>有两个 {name}</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_header.py"></location>
            <source>{name} is cut short: it should have {start} bytes and has {size}.</source>
            <translation>{name} 不完整：应有 {start} 字节，实有 {size} 字节。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_header.py"></location>
            <source>{name} in {name2} has the unsupported type {type_name}.</source>
            <translation>{name2} 中 {name} 的类型 {type_name} 不受支持。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_header.py"></location>
            <source>Use another quantization, such as Q4_K_M or Q8_0.</source>
            <translation>使用其他量化版本，例如 Q4_K_M 或 Q8_0。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_header.py"></location>
            <source>the rows of {name} are no whole number of blocks</source>
            <translation>{name} 的行不是整数个块</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_header.py"></location>
            <source>its metadata has the unknown type {kind}</source>
            <translation>它的元数据使用了未知类型 {kind}</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_header.py"></location>
            <source>it ends within its metadata</source>
            <translation>文件在元数据中途结束</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_header.py"></location>
            <source>its metadata lists more than {gguf_values} values</source>
            <translation>其元数据列出了超过 {gguf_values} 个值</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_header.py"></location>
            <source>its metadata holds an array of arrays</source>
            <translation>它的元数据中有嵌套数组</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_header.py"></location>
            <source>it ends within its header</source>
            <translation>文件在文件头中途结束</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_header.py"></location>
            <source>its header is impossibly long</source>
            <translation>它的文件头长得不合理</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_header.py"></location>
            <source>{name} is damaged: {what}.</source>
            <translation>{name} 已损坏：{what}。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_header.py"></location>
            <source>{foreign} (of ik_llama.cpp)</source>
            <translation>{foreign}（来自 ik_llama.cpp）</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_header.py"></location>
            <source>a type without a name (number {kind})</source>
            <translation>没有名称的类型（编号 {kind}）</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_metadata.py"></location>
            <source>it lacks {key}</source>
            <translation>它缺少 {key}</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_metadata.py"></location>
            <source>{key} is {shown}</source>
            <translation>{key} 为 {shown}</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_metadata.py"></location>
            <source>it lacks {architecture}.{key}</source>
            <translation>它缺少 {architecture}.{key}</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_metadata.py"></location>
            <source>{architecture}.{key} is {shown}</source>
            <translation>{architecture}.{key} 为 {shown}</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_metadata.py"></location>
            <source>{architecture}.{key} is no list of {count} numbers</source>
            <translation>{architecture}.{key} 不是 {count} 个数的列表</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_metadata.py"></location>
            <source>{architecture}.{key} is no list of {count} flags</source>
            <translation>{architecture}.{key} 不是 {count} 个标志的列表</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_metadata.py"></location>
            <source>{key} is no list of texts</source>
            <translation>{key} 不是文本列表</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_metadata.py"></location>
            <source>{key} is no list of numbers</source>
            <translation>{key} 不是数字列表</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_metadata.py"></location>
            <source>The metadata of this GGUF file is not usable: {what}.</source>
            <translation>这个 GGUF 文件的元数据无法使用：{what}。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_rows.py"></location>
            <source>{name} has the unsupported type {name2}.</source>
            <translation>{name} 的类型 {name2} 不受支持。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_rows.py"></location>
            <source>Use another quantization.</source>
            <translation>使用其他量化版本。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_source.py"></location>
            <source>it repeats tensors of another part</source>
            <translation>它重复了另一部分的张量</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_source.py"></location>
            <source>its parts hold {tensors} tensors instead of {promised}</source>
            <translation>它的各部分共有 {tensors} 个张量，而应有 {promised} 个</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_source.py"></location>
            <source>{name} has the shape {shape}</source>
            <translation>{name} 的形状为 {shape}</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_source.py"></location>
            <source>{name} and {name2} do not fit the metadata</source>
            <translation>{name} 和 {name2} 与元数据不符</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_source.py"></location>
            <source>the rows of {name} are no whole number of heads</source>
            <translation>{name} 的行不是整数个注意力头</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_source.py"></location>
            <source>{name} models aren't supported from GGUF.</source>
            <translation>不支持从 GGUF 导入 {name} 模型。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_source.py"></location>
            <source>Use safetensors format, or one of: {architectures}.</source>
            <translation>使用 safetensors 格式，或以下之一：{architectures}。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_source.py"></location>
            <source>This {name} model claims to have {layers} layers of {experts} experts.</source>
            <translation>这个 {name} 模型自称有 {layers} 层，每层 {experts} 个专家。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_source.py"></location>
            <source>This GGUF file stretches its context by {name}, which Underhill does not read from GGUF.</source>
            <translation>这个 GGUF 文件用 {name} 扩展上下文，Underhill 不能从 GGUF 读取这种方式。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_source.py"></location>
            <source>{name} holds the tensor {name2}, whose part in the model Underhill does not know.</source>
            <translation>{name} 中的张量 {name2} 在模型中的作用，Underhill 不认识。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_tokenizer.py"></location>
            <source>its vocabulary is not complete</source>
            <translation>它的词表不完整</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_tokenizer.py"></location>
            <source>its vocabulary has {twice} more than once</source>
            <translation>其词表中 {twice} 出现了不止一次</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_tokenizer.py"></location>
            <source>The vocabulary of this GGUF file is of the kind {kind}, which Underhill does not read from GGUF.</source>
            <translation>这个 GGUF 文件的词表属于 {kind} 类，Underhill 不能从 GGUF 读取。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_tokenizer.py"></location>
            <source>The tokenizer of this GGUF file splits text by the rules {pre}, which Underhill does not know.</source>
            <translation>这个 GGUF 文件的分词器按 {pre} 规则切分文本，Underhill 不认识这种规则。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_tokenizer.py"></location>
            <source>This GGUF file is from before files said how their tokenizer splits text.</source>
            <translation>这个 GGUF 文件太旧，还没有写明分词器如何切分文本。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_tokenizer.py"></location>
            <source>Get the model in safetensors format, or a newer GGUF file of it.</source>
            <translation>请获取 safetensors 格式的模型，或它的较新 GGUF 文件。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_tokenizer.py"></location>
            <source>the merge {merge} is not of two tokens</source>
            <translation>合并规则 {merge} 不是由两个词元组成</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_tokenizer.py"></location>
            <source>its vocabulary has no scores</source>
            <translation>它的词表没有分数</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_tokenizer.py"></location>
            <source>its vocabulary has a token of {token} characters</source>
            <translation>词表中有一个长达 {token} 个字符的词元</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_tokenizer.py"></location>
            <source>its tokens are made of each other in too many ways</source>
            <translation>其词元相互组合的方式过多</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_tokenizer.py"></location>
            <source>its merges and its vocabulary do not fit together</source>
            <translation>它的合并规则与词表不符</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_tokenizer.py"></location>
            <source>The tokenizer of this GGUF file is not usable: {what}.</source>
            <translation>这个 GGUF 文件的分词器无法使用：{what}。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/opening.py"></location>
            <source>in the format {form}</source>
            <translation>格式为 {form}</translation>
        </message>
        <message>
            <location filename="../../engine/formats/opening.py"></location>
            <source>config.json says that the weights are {name}, and none of them is.</source>
            <translation>config.json 写明权重为 {name}，但没有一个是这样。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_flat.py"></location>
            <source>they are {weights} numbers, which is no multiple of the {key} of config.json</source>
            <translation>共有 {weights} 个数，不是 config.json 中 {key} 的整数倍</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_flat.py"></location>
            <source>with 8 bits</source>
            <translation>8 位</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_flat.py"></location>
            <source>as {kind}</source>
            <translation>格式 {kind}</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_flat.py"></location>
            <source>its blocks are not of {block} numbers</source>
            <translation>它的分块不是 {block} 个数</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_flat.py"></location>
            <source>its code has not 16 values</source>
            <translation>它的码表不是 16 个值</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_flat.py"></location>
            <source>bitsandbytes {upper}</source>
            <translation>bitsandbytes {upper}</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_flat.py"></location>
            <source>its description is not readable</source>
            <translation>它的说明无法读取</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_flat.py"></location>
            <source>its description does not say that it is {shape} by {shape2}</source>
            <translation>它的说明与 {shape} × {shape2} 不符</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_flat.py"></location>
            <source>its description names no {name}</source>
            <translation>它的说明中没有 {name}</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_flat.py"></location>
            <source>with {bits} bits</source>
            <translation>{bits} 位</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_flat.py"></location>
            <source>its zeros or scales have another shape</source>
            <translation>它的零点或缩放系数形状不符</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_flat.py"></location>
            <source>its scales have another shape</source>
            <translation>它的缩放系数形状不符</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_flat.py"></location>
            <source>with codes that are seen as floats</source>
            <translation>编码以浮点数形式存放</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_flat.py"></location>
            <source>it says that it has another shape</source>
            <translation>它写明的形状不符</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_flat.py"></location>
            <source>config.json does not say how large its groups are</source>
            <translation>config.json 没有写明分组大小</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_floats.py"></location>
            <source>as {algorithm}</source>
            <translation>格式 {algorithm}</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_floats.py"></location>
            <source>with scales for what a layer is given</source>
            <translation>带有输入的缩放系数</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_floats.py"></location>
            <source>its scales have another shape or type</source>
            <translation>它的缩放系数形状或类型不符</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_floats.py"></location>
            <source>{ending} is not one number</source>
            <translation>{ending} 不是一个数</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_integers.py"></location>
            <source>{ending} is no matrix</source>
            <translation>{ending} 不是矩阵</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_integers.py"></location>
            <source>The packed weights of {stem} are damaged: {what}.</source>
            <translation>{stem} 的打包权重已损坏：{what}。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_integers.py"></location>
            <source>{listed} names groups that there are not</source>
            <translation>{listed} 指向不存在的组</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_integers.py"></location>
            <source>its groups do not divide its inputs</source>
            <translation>它的组不能整除输入</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_integers.py"></location>
            <source>config.json says that inputs are in order, and g_idx that they are not</source>
            <translation>config.json 说输入按顺序排列，g_idx 却说没有</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_integers.py"></location>
            <source>for {version} kernels</source>
            <translation>用于 {version} 内核</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_integers.py"></location>
            <source>as {schemes}</source>
            <translation>类型为 {schemes}</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_integers.py"></location>
            <source>its zeros have another shape</source>
            <translation>它的零点形状不符</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_integers.py"></location>
            <source>in blocks of {block}</source>
            <translation>每块 {block}</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_integers.py"></location>
            <source>its scales have the shape {held}</source>
            <translation>它的缩放系数的形状为 {held}</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_integers.py"></location>
            <source>with {value} bits</source>
            <translation>{value} 位</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_integers.py"></location>
            <source>This quantization isn't supported ({name} {how}).</source>
            <translation>不支持此量化方式（{name} {how}）。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_mlx.py"></location>
            <source>stores {family} models in a way of its own, which Underhill does not read</source>
            <translation>以自己的方式存放 {family} 模型，Underhill 不能读取</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_mlx.py"></location>
            <source>{name} holds {count} experts.</source>
            <translation>{name} 含有 {count} 个专家。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_mlx.py"></location>
            <source>{prefix}{keys} and {values} do not fit each other.</source>
            <translation>{prefix}{keys} 与 {values} 不相符。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_mlx.py"></location>
            <source>keeps its weights as {mode}, which Underhill does not read</source>
            <translation>以 {mode} 存放权重，Underhill 不能读取</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_mlx.py"></location>
            <source>keeps its weights in groups of {group} with {bits} bits, which Underhill does not read</source>
            <translation>以每组 {group} 个、{bits} 位存放权重，Underhill 不能读取</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_mlx.py"></location>
            <source>its biases have another shape</source>
            <translation>它的偏移形状不符</translation>
        </message>
        <message>
            <location filename="../../engine/formats/packed_mlx.py"></location>
            <source>This model was quantized by MLX, which {what}.</source>
            <translation>此模型由 MLX 量化，而 MLX {what}。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/safetensors_header.py"></location>
            <source>its header is longer than the file</source>
            <translation>它的文件头比文件还长</translation>
        </message>
        <message>
            <location filename="../../engine/formats/safetensors_header.py"></location>
            <source>its header is huge</source>
            <translation>它的文件头过大</translation>
        </message>
        <message>
            <location filename="../../engine/formats/safetensors_header.py"></location>
            <source>its header is not readable</source>
            <translation>它的文件头无法读取</translation>
        </message>
        <message>
            <location filename="../../engine/formats/safetensors_header.py"></location>
            <source>its header is not a JSON object</source>
            <translation>它的文件头不是 JSON 对象</translation>
        </message>
        <message>
            <location filename="../../engine/formats/safetensors_header.py"></location>
            <source>it lists {header} tensors</source>
            <translation>它列出了 {header} 个张量</translation>
        </message>
        <message>
            <location filename="../../engine/formats/safetensors_header.py"></location>
            <source>{name} overlaps another tensor</source>
            <translation>{name} 与另一个张量重叠</translation>
        </message>
        <message>
            <location filename="../../engine/formats/safetensors_header.py"></location>
            <source>{name} is cut short: it should have {end} bytes and has {size}.</source>
            <translation>{name} 不完整：应有 {end} 字节，实际为 {size}。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/safetensors_header.py"></location>
            <source>it has a tensor called {name}, which is not text</source>
            <translation>其中有一个名为 {name} 的张量，它不是文本</translation>
        </message>
        <message>
            <location filename="../../engine/formats/safetensors_header.py"></location>
            <source>the entry of {name} is not readable</source>
            <translation>{name} 的条目无法读取</translation>
        </message>
        <message>
            <location filename="../../engine/formats/safetensors_header.py"></location>
            <source>{name} has the unknown type {dtype}</source>
            <translation>{name} 的类型 {dtype} 未知</translation>
        </message>
        <message>
            <location filename="../../engine/formats/safetensors_header.py"></location>
            <source>the size of {name} does not fit its shape</source>
            <translation>{name} 的大小与形状不符</translation>
        </message>
        <message>
            <location filename="../../engine/formats/source.py"></location>
            <source>{name} is cut short.</source>
            <translation>{name} 不完整。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/source.py"></location>
            <source>Its codes could not be kept, since act-order puts each of its inputs into a group of its own: they were quantized a second time, and the errors told are what that cost.</source>
            <translation>其编码无法原样保留，因为 act-order 使各输入分属各自的组：它们被再次量化，所示误差即为由此产生的损失。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/source.py"></location>
            <source>Its codes were not kept but quantized a second time; the errors told are what that cost.</source>
            <translation>其编码未原样保留，而是被再次量化；所示误差即为由此产生的损失。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/source.py"></location>
            <source>Its source was already quantized ({form}, about {bits} bits per weight), which limits the quality of every precision: errors are measured against that source, not against the original model.</source>
            <translation>它的源模型已经量化过（{form}，每个权重约 {bits} 位），这限制了所有精度的质量：误差是相对于该源模型而不是原始模型测得的。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/answer_batch.py"></location>
            <source>The model is needed for something else now.</source>
            <translation>模型现在要用于其他任务。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/answer_batch.py"></location>
            <source>Ask again soon.</source>
            <translation>稍后再试。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/chat.py"></location>
            <source>This model's tokenizer runs in a process of its own, so its answers cannot be held to a schema.</source>
            <translation>这个模型的分词器在单独的进程中运行，因此无法让它的回答遵循某个模式（schema）。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/chat.py"></location>
            <source>Ask without the schema, or choose another model.</source>
            <translation>去掉模式再问，或选择其他模型。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/chat.py"></location>
            <source>A raw prompt can't have images.</source>
            <translation>原始提示词不能带图片。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/chat.py"></location>
            <source>Send it as a chat, or without images.</source>
            <translation>以对话形式发送，或去掉图片。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/chat.py"></location>
            <source>This model's chat template has no place for these images.</source>
            <translation>此模型的对话模板没有放置这些图片的位置。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/chat.py"></location>
            <source>Send the message without images.</source>
            <translation>发送不带图片的消息。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/chat.py"></location>
            <source>Can't read the model's {name}.</source>
            <translation>无法读取模型的 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/chat.py"></location>
            <source>Import it again.</source>
            <translation>请重新导入。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/chat.py"></location>
            <source>Nothing to answer.</source>
            <translation>没有可回答的内容。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/chat.py"></location>
            <source>Write a message first.</source>
            <translation>请先写一条消息。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/chat.py"></location>
            <source>Message too long: {ids} tokens, the limit is {context}.</source>
            <translation>消息过长：{ids} 词元，上限为 {context}。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/chat.py"></location>
            <source>Shorten it, or raise the context length in Settings.</source>
            <translation>缩短消息，或在设置中调高上下文长度。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/constraint.py"></location>
            <source>Simplify the schema, or ask without it.</source>
            <translation>简化模式，或去掉它再问。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/constraint.py"></location>
            <source>The answer cannot be held to this schema: {why}</source>
            <translation>无法让回答遵循这个模式：{why}</translation>
        </message>
        <message>
            <location filename="../../engine/generation/constraint.py"></location>
            <source>How this model calls tools is in a form that it cannot be made to keep to.</source>
            <translation>这个模型调用工具的格式无法强制遵循。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/constraint.py"></location>
            <source>Leave it to the model whether it calls one (tool_choice auto).</source>
            <translation>让模型自行决定是否调用工具（tool_choice auto）。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/constraint.py"></location>
            <source>A tool must be called, and none is given.</source>
            <translation>要求必须调用工具，但没有给出任何工具。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/constraint.py"></location>
            <source>There is no tool called {name}.</source>
            <translation>没有名为 {name} 的工具。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/constraint.py"></location>
            <source>No more than {most} tools can be given.</source>
            <translation>最多只能给出 {most} 个工具。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/context.py"></location>
            <source>The text is too long to compare: {tokens} tokens, twice.</source>
            <translation>文本过长，无法对比：{tokens} 个词元，需两份。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/context.py"></location>
            <source>Ask a shorter question, or raise the context length.</source>
            <translation>请缩短问题，或增大上下文长度。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>Download the model again or choose another.</source>
            <translation>重新下载模型，或选择其他模型。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>Choose another model, or download this one from its makers.</source>
            <translation>选择其他模型，或从作者处下载此模型。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>Can't read the model's tokenizer.</source>
            <translation>无法读取模型的分词器。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>Download or import the model again. Its tokenizer may be missing or need code that isn't run.</source>
            <translation>重新下载或导入模型。它的分词器可能缺失，或需要不会运行的代码。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>The model has no tokenizer.json.</source>
            <translation>模型没有 tokenizer.json。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>Look for a version of the model that includes tokenizer.json.</source>
            <translation>请寻找包含 tokenizer.json 的模型版本。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>The model's tokenizer gives two of its tokens the same number.</source>
            <translation>模型的分词器给两个词元编了同一个编号。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>The model's tokenizer took too long for this text.</source>
            <translation>模型的分词器处理这段文字耗时过长。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>The model's tokenizer needs too much memory for this text.</source>
            <translation>模型的分词器处理这段文字占用内存过多。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>The model's tokenizer failed on this text.</source>
            <translation>模型的分词器处理这段文字时出错。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>The model's chat template is broken: {text}</source>
            <translation>模型的对话模板已损坏：{text}</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>This model's chat template refuses the chat: {text}</source>
            <translation>此模型的对话模板拒绝了这段对话：{text}</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>Try without the system prompt.</source>
            <translation>请去掉系统提示词再试。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>The model's chat template took too long for this chat.</source>
            <translation>模型的对话模板处理这段对话耗时过长。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>The model's chat template can't be run.</source>
            <translation>无法运行模型的对话模板。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>The model's chat template makes this chat too long.</source>
            <translation>模型的对话模板使这段对话过长。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>Reading the model's tokenizer took too long.</source>
            <translation>读取模型的分词器耗时过长。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>Reading the model's tokenizer needs too much memory.</source>
            <translation>读取模型的分词器占用内存过多。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>Reading the model's tokenizer failed.</source>
            <translation>读取模型的分词器失败。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/rendering.py"></location>
            <source>This model's chat template takes no tools.</source>
            <translation>这个模型的对话模板不支持工具。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/sampling.py"></location>
            <source>The model's weights are damaged: its output is not a number.</source>
            <translation>模型的权重已损坏：输出不是数字。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/sampling.py"></location>
            <source>Import the model again or choose another.</source>
            <translation>重新导入模型，或选择其他模型。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>Measured while other apps used {busy}% of the processor. It will be measured again.</source>
            <translation>测量时其他应用占用了 {busy}% 的处理器，之后会重新测量。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source> ({performance} fast)</source>
            <translation>（{performance} 个性能核）</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>{name}: {physical} cores{kinds}, {logical} threads; {isa} on {cores} threads.</source>
            <translation>{name}：{physical} 核{kinds}，{logical} 线程；{isa} 使用 {cores} 个线程。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>Memory: {available} of {limit} free, {memory_rate} GB/s.</source>
            <translation>内存：可用 {available} / {limit}，{memory_rate} GB/s。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>, {pinned} GB/s link</source>
            <translation>，传输 {pinned} GB/s</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>{name}: {free} of {total} of GPU memory free{link}. CUDA capability {capability}.</source>
            <translation>{name}：显存 {total}，可用 {free}{link}。CUDA 计算能力 {capability}。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>Disk: {disk_free} free.</source>
            <translation>磁盘：剩余 {disk_free}。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>On battery: may be slower.</source>
            <translation>正在使用电池，可能较慢。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>Disk reads: {disk_rate} GB/s; at best {point}.</source>
            <translation>磁盘读取：{disk_rate} GB/s；最快 {point}。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>{share}% at {tier}-bit</source>
            <translation>{tier} 位时 {share}%</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>Expert computing, share of memory speed: {shares}.</source>
            <translation>专家计算相当于内存速度的：{shares}。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>direct</source>
            <translation>直接读取</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>cached</source>
            <translation>经由缓存</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>{rate} GB/s ({nbytes} blocks, {depth} parallel, {way})</source>
            <translation>{rate} GB/s（块 {nbytes}，并行 {depth}，{way}）</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>Paused at {percent}% battery. Plug in to continue.</source>
            <translation>电量 {percent}%，已暂停。接通电源后继续。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/control_groups.py"></location>
            <source>The app needs {needed} MB of memory and may use {given} MB.</source>
            <translation>应用需要 {needed} MB 内存，可用的只有 {given} MB。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/control_groups.py"></location>
            <source>Raise the memory limit the app runs under, or close other apps under the same limit.</source>
            <translation>提高应用所受的内存限制，或关闭受同一限制的其他应用。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/disk_speed.py"></location>
            <source>Not enough disk space in {folder} to measure it.</source>
            <translation>{folder} 空间不足，无法测速。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/disk_speed.py"></location>
            <source>Free {part} MB, then measure again.</source>
            <translation>释放 {part} MB，然后重新测速。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/disk_speed.py"></location>
            <source>Can't measure the disk of {folder}: not writable ({strerror}).</source>
            <translation>无法测量 {folder} 所在的磁盘：不可写入（{strerror}）。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/disk_speed.py"></location>
            <source>Choose a writable folder, or measure with a model stored there.</source>
            <translation>选择可写入的文件夹，或用存放在那里的模型测速。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/fingerprint.py"></location>
            <source>the disk has changed</source>
            <translation>磁盘已更换</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/fingerprint.py"></location>
            <source>the memory size has changed</source>
            <translation>内存大小已改变</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/fingerprint.py"></location>
            <source>the processor has changed</source>
            <translation>处理器已更换</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/fingerprint.py"></location>
            <source>the usable cores have changed</source>
            <translation>可用的核心已改变</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/fingerprint.py"></location>
            <source>the operating system has changed</source>
            <translation>操作系统已更换</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/fingerprint.py"></location>
            <source>the app version has changed</source>
            <translation>应用版本已改变</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/fingerprint.py"></location>
            <source>the torch version has changed</source>
            <translation>torch 版本已改变</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/fingerprint.py"></location>
            <source>This computer hasn't been measured yet.</source>
            <translation>尚未测量这台电脑。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/fingerprint.py"></location>
            <source>on battery</source>
            <translation>使用电池时</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/fingerprint.py"></location>
            <source>on mains power</source>
            <translation>接通电源时</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/fingerprint.py"></location>
            <source>This computer hasn't been measured {where} yet.</source>
            <translation>尚未在{where}测量这台电脑。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/fingerprint.py"></location>
            <source>Since this computer was measured, {differs}.</source>
            <translation>自上次测速以来，{differs}。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/fingerprint.py"></location>
            <source>It will be measured again.</source>
            <translation>需要重新测量。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/full_probe.py"></location>
            <source>Measuring {doing}</source>
            <translation>正在测量 {doing}</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/full_probe.py"></location>
            <source>memory</source>
            <translation>内存</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/full_probe.py"></location>
            <source>Can't read the disk of {place} ({strerror}).</source>
            <translation>无法读取 {place} 所在的磁盘（{strerror}）。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/full_probe.py"></location>
            <source>Check the disk.</source>
            <translation>请检查磁盘。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/full_probe.py"></location>
            <source>processor</source>
            <translation>处理器</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/full_probe.py"></location>
            <source>GPUs</source>
            <translation>GPU</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/full_probe.py"></location>
            <source>disk</source>
            <translation>磁盘</translation>
        </message>
        <message>
            <location filename="../../engine/hub/chunks.py"></location>
            <source>The downloaded part of {name} is damaged.</source>
            <translation>{name} 已下载的部分已损坏。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/client.py"></location>
            <source>bytes that cannot be unpacked</source>
            <translation>无法解压的数据</translation>
        </message>
        <message>
            <location filename="../../engine/hub/client.py"></location>
            <source>{shown} isn't a hub URL.</source>
            <translation>{shown} 不是模型站地址。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/client.py"></location>
            <source>It starts with https://.</source>
            <translation>应以 https:// 开头。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/client.py"></location>
            <source>{repo} isn't a model name.</source>
            <translation>{repo} 不是模型名称。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/client.py"></location>
            <source>Names look like owner/model.</source>
            <translation>名称的格式是 owner/model。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/client.py"></location>
            <source>something that is not a hub's answer</source>
            <translation>并非模型站应有的回答</translation>
        </message>
        <message>
            <location filename="../../engine/hub/client.py"></location>
            <source>an impossibly long {name}</source>
            <translation>长得不合理的 {name}</translation>
        </message>
        <message>
            <location filename="../../engine/hub/client.py"></location>
            <source>{proxy} isn't a proxy URL.</source>
            <translation>{proxy} 不是代理地址。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/client.py"></location>
            <source>It starts with http://.</source>
            <translation>应以 http:// 开头。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/client.py"></location>
            <source>an endless chain of redirections</source>
            <translation>没完没了的重定向</translation>
        </message>
        <message>
            <location filename="../../engine/hub/client.py"></location>
            <source>The model of that address is called {page}.</source>
            <translation>该地址的模型名为 {page}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/client.py"></location>
            <source>No token given.</source>
            <translation>没有提供令牌。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/client.py"></location>
            <source>Paste it.</source>
            <translation>粘贴令牌。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/client.py"></location>
            <source>This isn't a token.</source>
            <translation>这不是令牌。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/client.py"></location>
            <source>Copy it again, the token only.</source>
            <translation>重新复制，只复制令牌。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/control.py"></location>
            <source>Download stopped.</source>
            <translation>下载已停止。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/control.py"></location>
            <source>Start it again to resume.</source>
            <translation>再次开始即可继续。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/control.py"></location>
            <source>{reason} Retrying in {left} s.</source>
            <translation>{reason}{left} 秒后重试。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/control.py"></location>
            <source>{reason} Retrying…</source>
            <translation>{reason}正在重试…</translation>
        </message>
        <message>
            <location filename="../../engine/hub/control.py"></location>
            <source>Can't write {filename} ({strerror}).</source>
            <translation>无法写入 {filename}（{strerror}）。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/download.py"></location>
            <source>other bytes than it was asked for</source>
            <translation>不是所请求的那些字节</translation>
        </message>
        <message>
            <location filename="../../engine/hub/download.py"></location>
            <source>A download of {repo}</source>
            <translation>{repo} 的下载</translation>
        </message>
        <message>
            <location filename="../../engine/hub/download.py"></location>
            <source>This download</source>
            <translation>此下载</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>in Settings</source>
            <translation>（在设置中）</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>If this network needs a sign-in, do it in a browser.</source>
            <translation>若网络需要登录，请先在浏览器中登录。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{action} The download so far is kept.</source>
            <translation>{action}已下载的部分会保留。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>HF_HUB_OFFLINE is set. Remove it and restart the app.</source>
            <translation>已设置 HF_HUB_OFFLINE。移除它并重新启动应用。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Turn it off in Settings.</source>
            <translation>在设置中关闭它。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Offline mode is on.</source>
            <translation>离线模式已开启。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Proxy {by_proxy} refused the connection to {host} ({cause}).</source>
            <translation>代理 {by_proxy} 拒绝连接 {host}（{cause}）。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Check the proxy URL.</source>
            <translation>检查代理地址。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{host} isn't responding.</source>
            <translation>{host} 无响应。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Check the connection, then try again.</source>
            <translation>检查网络连接，然后重试。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Proxy {by_proxy}</source>
            <translation>代理 {by_proxy}</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{who} isn't responding.</source>
            <translation>{who} 无响应。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>The certificate of {host} isn't trusted.</source>
            <translation>不信任 {host} 的证书。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{sign_in} Otherwise check the clock. Behind a proxy, set SSL_CERT_FILE.</source>
            <translation>{sign_in}否则检查系统时间。使用代理时，设置 SSL_CERT_FILE。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>of proxy {by_proxy}</source>
            <translation>代理 {by_proxy}</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Can't find the address {who}.</source>
            <translation>找不到地址 {who}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Check the internet connection and the address.</source>
            <translation>检查网络连接和地址。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>No internet connection.</source>
            <translation>没有网络连接。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Connect, then try again.</source>
            <translation>连接网络后重试。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>the proxy setting</source>
            <translation>代理设置</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>the connection</source>
            <translation>网络连接</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{who} refused the connection.</source>
            <translation>{who} 拒绝连接。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Check {what}, or try again later.</source>
            <translation>请检查 {what}，或稍后再试。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{host} is too slow.</source>
            <translation>{host} 响应过慢。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Check the connection, or try again later.</source>
            <translation>请检查网络连接，或稍后重试。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>The connection to {host} was lost.</source>
            <translation>与 {host} 的连接中断。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{host} refused the download ({status}).</source>
            <translation>{host} 拒绝下载（{status}）。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{name} is incomplete on {host}.</source>
            <translation>{host} 上的 {name} 不完整。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Try again later or use another hub.</source>
            <translation>稍后再试，或换一个模型站。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Sign-in required: {repo} has a license to accept.</source>
            <translation>需要登录：{repo} 需要先接受许可协议。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Accept it at {page}, then add a token {how}.</source>
            <translation>在 {page} 接受协议，然后添加令牌{how}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Your account has no access to {repo} yet.</source>
            <translation>你的账号尚无权访问 {repo}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Accept its license at {page}. Access may need approval by its makers.</source>
            <translation>在 {page} 接受许可协议。可能需要等待作者审批。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{repo} has no such revision.</source>
            <translation>{repo} 没有这个修订版本。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Available revisions: {page}</source>
            <translation>可用版本见 {page}</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{repo} has no file {name}.</source>
            <translation>{repo} 没有文件 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Available files: {page}</source>
            <translation>可用文件见 {page}</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>No model {repo} on {host}, or it is private.</source>
            <translation>{host} 上没有模型 {repo}，或它是私有的。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Check the name. For a private model, add a token {how}.</source>
            <translation>检查名称。如果是私有模型，添加令牌{how}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{host} rejected the token.</source>
            <translation>{host} 拒绝了令牌。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Add a new token {how}.</source>
            <translation>添加新令牌{how}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{host} needs a token.</source>
            <translation>{host} 需要令牌。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Add a token {how}.</source>
            <translation>添加令牌{how}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>This network needs a sign-in.</source>
            <translation>此网络需要登录。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Sign in with a browser.</source>
            <translation>在浏览器中登录。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Check the model hub URL in Settings.</source>
            <translation>检查设置中的模型站地址。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Wait some minutes</source>
            <translation>请等待几分钟</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Wait {after} s</source>
            <translation>等待 {after} 秒</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Wait {ceil} min</source>
            <translation>等待 {ceil} 分钟</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{wait}, then try again. A token allows more.</source>
            <translation>{wait}后重试。使用令牌可发送更多请求。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Check the model hub URL. If this network needs a sign-in, do it in a browser.</source>
            <translation>检查模型站地址。若网络需要登录，请先在浏览器中登录。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{host} returned a web page instead of {name}.</source>
            <translation>{host} 返回了网页，而不是 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{sign_in} Otherwise check the model hub URL.</source>
            <translation>{sign_in}否则检查模型站地址。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{host} doesn't support partial downloads.</source>
            <translation>{host} 不支持分段下载。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Use another hub.</source>
            <translation>换一个模型站。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{name} has the wrong size: {sent} bytes instead of {promised}.</source>
            <translation>{name} 大小不符：{sent} 字节（应为 {promised}）。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Try again on another network, or choose another copy of the model.</source>
            <translation>换个网络重试，或选择该模型的其他副本。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>The download of {name} is damaged (wrong checksum).</source>
            <translation>{name} 下载损坏（校验和不符）。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Try again. If it keeps happening, use another network or hub.</source>
            <translation>重试一次。如果一再发生，换个网络或模型站。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{name} changed on the hub during the download.</source>
            <translation>下载期间 {name} 在模型站上发生了变化。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Start the download again. Unchanged files are kept.</source>
            <translation>重新开始下载。未变化的文件会保留。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Free {value} MB</source>
            <translation>请在那里腾出 {value} MB</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Free some space</source>
            <translation>请在那里腾出一些空间</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Not enough disk space in {folder}.</source>
            <translation>{folder} 磁盘空间不足。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{room}, then try again.</source>
            <translation>{room}，然后重试。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/keyring_secret.py"></location>
            <source>Unlock it and try again.</source>
            <translation>解锁后再试一次。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/keyring_secret.py"></location>
            <source>Unlock or install one (on Linux: GNOME Keyring or KWallet).</source>
            <translation>解锁或安装一个（Linux 上：GNOME Keyring 或 KWallet）。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/keyring_secret.py"></location>
            <source>The keyring of this computer is locked.</source>
            <translation>这台电脑的密钥环已锁定。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/keyring_secret.py"></location>
            <source>No keyring works on this computer, so the key can't be read or kept.</source>
            <translation>这台电脑上没有可用的密钥环，无法读取或保存密钥。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/listings.py"></location>
            <source>Published in about 4 bits and kept as is: no loss.</source>
            <translation>作者以约 4 位发布，原样保留：没有损失。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/listings.py"></location>
            <source>Quantized to 4 bits by its makers: nearly as good as the original.</source>
            <translation>由作者量化为 4 位：效果接近原版。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/listings.py"></location>
            <source>Quantized to 4 bits by {by}: nearly as good as the original.</source>
            <translation>由 {by} 量化为 4 位：效果接近原版。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/outline.py"></location>
            <source>The experts of this model are not matrices.</source>
            <translation>此模型的专家不是矩阵。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/outline.py"></location>
            <source>The experts cannot be stored: {cause}.</source>
            <translation>专家无法保存：{cause}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/outline.py"></location>
            <source>{repo} has no GGUF files, so none called {gguf}.</source>
            <translation>{repo} 没有 GGUF 文件，因此也没有名为 {gguf} 的。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/outline.py"></location>
            <source>Ask for it without naming one.</source>
            <translation>请不要指定文件名，直接获取它。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/outline.py"></location>
            <source>it has no {config}</source>
            <translation>其中没有 {config}</translation>
        </message>
        <message>
            <location filename="../../engine/hub/outline.py"></location>
            <source>{config} of {repo} names no model_type.</source>
            <translation>{repo} 的 {config} 没有写明 model_type。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/outline.py"></location>
            <source>{index} of {repo} is damaged.</source>
            <translation>{repo} 的 {index} 已损坏。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/outline.py"></location>
            <source>Choose another copy of the model.</source>
            <translation>请选择该模型的其他副本。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/outline.py"></location>
            <source>it has no safetensors files</source>
            <translation>其中没有 safetensors 文件</translation>
        </message>
        <message>
            <location filename="../../engine/hub/outline.py"></location>
            <source>{repo} lacks its file {name}.</source>
            <translation>{repo} 缺少文件 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/outline.py"></location>
            <source>Choose another copy of it.</source>
            <translation>请选择它的其他副本。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/outline.py"></location>
            <source>{shard} of {repo} lacks the tensor {name} that {index} promises.</source>
            <translation>{repo} 的 {shard} 缺少 {index} 中写明的张量 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/outline.py"></location>
            <source>{name} of {repo} is impossibly long.</source>
            <translation>{repo} 的 {name} 长得不合理。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/outline.py"></location>
            <source>{name} of {repo} is not readable.</source>
            <translation>{repo} 的 {name} 无法读取。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/outline.py"></location>
            <source>{name} of {repo} is not an object.</source>
            <translation>{repo} 的 {name} 不是对象。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/outline.py"></location>
            <source>{name} of {repo} arrives damaged.</source>
            <translation>{repo} 的 {name} 收到时已损坏。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/outline.py"></location>
            <source>{repo} can't be imported: {why}.</source>
            <translation>无法导入 {repo}：{why}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/outline.py"></location>
            <source>Look for a version with safetensors or GGUF files.</source>
            <translation>寻找含有 safetensors 或 GGUF 文件的版本。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/revision.py"></location>
            <source>no commit, where a model's should be</source>
            <translation>本应有模型的提交号，却没有</translation>
        </message>
        <message>
            <location filename="../../engine/hub/revision.py"></location>
            <source>{repo} lacks parts of its GGUF files.</source>
            <translation>{repo} 的 GGUF 文件不全。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/revision.py"></location>
            <source>{repo} has {meant} GGUF models called {wanted}.</source>
            <translation>{repo} 中有 {meant} 个名为 {wanted} 的 GGUF 模型。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/revision.py"></location>
            <source>{repo} has no GGUF model called {wanted}.</source>
            <translation>{repo} 中没有名为 {wanted} 的 GGUF 模型。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/revision.py"></location>
            <source>Available: {listed}.</source>
            <translation>可用：{listed}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/streaming.py"></location>
            <source>Some of its files are already on disk.</source>
            <translation>部分文件已在磁盘上。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/streaming.py"></location>
            <source>The hub names no checksums of its files.</source>
            <translation>模型站没有写明文件的校验和。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/streaming.py"></location>
            <source>Which of its tensors are needed shows only in its weights.</source>
            <translation>需要其中哪些张量，要看权重才知道。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/streaming.py"></location>
            <source>Its tensors lie in an order for which {held} GB would have to be held at once.</source>
            <translation>按张量的排列顺序，需要同时存放 {held} GB。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/tokens.py"></location>
            <source>No system keyring available. Set {variable} instead.</source>
            <translation>没有可用的系统密钥环。改为设置 {variable}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/tokens.py"></location>
            <source>The system keyring is locked. Unlock it, then try again.</source>
            <translation>系统密钥环已锁定。解锁后重试。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/tokens.py"></location>
            <source>The system keyring is locked. Nothing was changed.</source>
            <translation>系统密钥环已锁定，没有任何更改。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/tokens.py"></location>
            <source>Unlock it and try again, or set {variable}.</source>
            <translation>解锁后重试，或设置 {variable}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/tokens.py"></location>
            <source>No system keyring available to save the token.</source>
            <translation>没有可用的系统密钥环来保存令牌。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/tokens.py"></location>
            <source>Install one (on Linux: GNOME Keyring or KWallet), or set {variable}.</source>
            <translation>安装一个（Linux：GNOME Keyring 或 KWallet），或设置 {variable}。</translation>
        </message>
        <message>
            <location filename="../../engine/kernels/dense.py"></location>
            <source>The model holds weights that are not finite numbers.</source>
            <translation>模型的权重中有非有限的数值。</translation>
        </message>
        <message>
            <location filename="../../engine/kernels/encode.py"></location>
            <source>Not enough memory to quantize.</source>
            <translation>内存不足，无法量化。</translation>
        </message>
        <message>
            <location filename="../../engine/kernels/encode.py"></location>
            <source>Close other apps.</source>
            <translation>请关闭其他应用。</translation>
        </message>
        <message>
            <location filename="../../engine/kernels/native.py"></location>
            <source>Not enough memory to compute.</source>
            <translation>内存不足，无法计算。</translation>
        </message>
        <message>
            <location filename="../../engine/kernels/native.py"></location>
            <source>Lower the memory limit.</source>
            <translation>调低内存上限。</translation>
        </message>
        <message>
            <location filename="../../engine/kernels/native.py"></location>
            <source>Can't start the CPU threads.</source>
            <translation>无法启动 CPU 线程。</translation>
        </message>
        <message>
            <location filename="../../engine/kernels/native.py"></location>
            <source>Use fewer threads.</source>
            <translation>请减少线程数。</translation>
        </message>
        <message>
            <location filename="../../engine/library/builtin.py"></location>
            <source>Built when first used.</source>
            <translation>首次使用时生成。</translation>
        </message>
        <message>
            <location filename="../../engine/library/catalogue.py"></location>
            <source>The model catalog {file} is damaged.</source>
            <translation>模型目录 {file} 已损坏。</translation>
        </message>
        <message>
            <location filename="../../engine/library/catalogue.py"></location>
            <source>Reinstall Underhill.</source>
            <translation>重新安装 Underhill。</translation>
        </message>
        <message>
            <location filename="../../engine/library/computer.py"></location>
            <source>Waiting for other apps to finish</source>
            <translation>正在等待其他应用完成</translation>
        </message>
        <message>
            <location filename="../../engine/library/computer.py"></location>
            <source>The processor is busy; the previous result is kept.</source>
            <translation>处理器正忙，保留之前的结果。</translation>
        </message>
        <message>
            <location filename="../../engine/library/computer.py"></location>
            <source>{sentence} The result couldn't be saved.</source>
            <translation>{sentence}结果无法保存。</translation>
        </message>
        <message>
            <location filename="../../engine/library/damage.py"></location>
            <source>Import it again. Verify its files to list all damage.</source>
            <translation>重新导入。校验文件可列出所有损坏之处。</translation>
        </message>
        <message>
            <location filename="../../engine/library/damage.py"></location>
            <source>Delete it; it is rebuilt when next used.</source>
            <translation>删除它，下次使用时会重建。</translation>
        </message>
        <message>
            <location filename="../../engine/library/damage.py"></location>
            <source>Load the built-in model again; it is rebuilt.</source>
            <translation>重新加载内置模型，它会重建。</translation>
        </message>
        <message>
            <location filename="../../engine/library/dials.py"></location>
            <source>HOBBIT 67/30/3</source>
            <translation>HOBBIT 67/30/3</translation>
        </message>
        <message>
            <location filename="../../engine/library/dials.py"></location>
            <source>Balanced</source>
            <translation>均衡</translation>
        </message>
        <message>
            <location filename="../../engine/library/dials.py"></location>
            <source>Fast</source>
            <translation>快速</translation>
        </message>
        <message>
            <location filename="../../engine/library/dials.py"></location>
            <source>Exact: always full precision.</source>
            <translation>精确：始终全精度。</translation>
        </message>
        <message>
            <location filename="../../engine/library/dials.py"></location>
            <source>{called}: quality loss not measured yet.</source>
            <translation>{called}：质量损失尚未测量。</translation>
        </message>
        <message>
            <location filename="../../engine/library/dials.py"></location>
            <source>{figures} if all experts are read from disk</source>
            <translation>全部专家从磁盘读取时 {figures}</translation>
        </message>
        <message>
            <location filename="../../engine/library/dials.py"></location>
            <source>{called}: {most}, no loss when all are in memory.</source>
            <translation>{called}：{most}；全部在内存时无损失。</translation>
        </message>
        <message>
            <location filename="../../engine/library/dials.py"></location>
            <source>{called}: {figures} with {share}% of experts in memory, {most}.</source>
            <translation>{called}：{share}% 专家在内存时 {figures}；{most}。</translation>
        </message>
        <message>
            <location filename="../../engine/library/dials.py"></location>
            <source>KL {kl} vs. Exact</source>
            <translation>与“精确”相差 KL {kl}</translation>
        </message>
        <message>
            <location filename="../../engine/library/display_name.py"></location>
            <source>The name is empty.</source>
            <translation>名称为空。</translation>
        </message>
        <message>
            <location filename="../../engine/library/display_name.py"></location>
            <source>Type a name.</source>
            <translation>输入一个名称。</translation>
        </message>
        <message>
            <location filename="../../engine/library/display_name.py"></location>
            <source>The name is too long: {length} characters.</source>
            <translation>名称过长：{length} 个字符。</translation>
        </message>
        <message>
            <location filename="../../engine/library/display_name.py"></location>
            <source>Use {longest} at most.</source>
            <translation>最多 {longest} 个字符。</translation>
        </message>
        <message>
            <location filename="../../engine/library/display_name.py"></location>
            <source>A model can't be named {name}.</source>
            <translation>模型不能命名为 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/library/display_name.py"></location>
            <source>Use letters, digits, spaces, - and _.</source>
            <translation>请使用字母、数字、空格、- 和 _。</translation>
        </message>
        <message>
            <location filename="../../engine/library/external_models.py"></location>
            <source>Checking {title}</source>
            <translation>正在检查 {title}</translation>
        </message>
        <message>
            <location filename="../../engine/library/facts.py"></location>
            <source>there are experts of layer {beyond}, which should have none</source>
            <translation>第 {beyond} 层有专家，而它本不应有</translation>
        </message>
        <message>
            <location filename="../../engine/library/facts.py"></location>
            <source>layer {layer} holds {stored} experts of width {stored2} and should hold {count} of width {hidden}</source>
            <translation>第 {layer} 层有 {stored} 个宽度为 {stored2} 的专家，应有 {count} 个宽度为 {hidden} 的专家</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>The model folder {relative} isn't a full path.</source>
            <translation>模型文件夹 {relative} 不是完整路径。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>Correct it in {file}.</source>
            <translation>请在 {file} 中更正。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>Can't write to {folder}.</source>
            <translation>无法写入 {folder}。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>Choose another folder, or change its permissions.</source>
            <translation>请选择其他文件夹，或修改它的权限。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>{wanted} isn't a model folder.</source>
            <translation>{wanted} 不是模型文件夹。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>Available: {paths}. Add others in Settings.</source>
            <translation>可用：{paths}。可在设置中添加。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>A folder name can't have line breaks.</source>
            <translation>文件夹名称不能包含换行。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>{path} is itself a model.</source>
            <translation>{path} 本身就是一个模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>Choose its parent folder, or import the model.</source>
            <translation>选择它的上级文件夹，或导入该模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>Can't create {path}: {parent} doesn't exist.</source>
            <translation>无法创建 {path}：{parent} 不存在。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>Create that folder first, or connect its disk.</source>
            <translation>先创建该文件夹，或连接它所在的磁盘。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>{path} isn't writable and contains no models.</source>
            <translation>{path} 不可写入，里面也没有模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>The app's own folder can't be removed.</source>
            <translation>应用自己的文件夹不能移除。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>Start from the disk's root.</source>
            <translation>从磁盘根目录写起。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>The folder {folder} isn't available.</source>
            <translation>文件夹 {folder} 目前不可用。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>Connect its disk, or choose another folder.</source>
            <translation>请连接它所在的磁盘，或选择其他文件夹。</translation>
        </message>
        <message>
            <location filename="../../engine/library/import_compatibility.py"></location>
            <source>{architecture} models aren't supported from GGUF.</source>
            <translation>不支持从 GGUF 导入 {architecture} 模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/import_compatibility.py"></location>
            <source>unnamed</source>
            <translation>未命名</translation>
        </message>
        <message>
            <location filename="../../engine/library/import_compatibility.py"></location>
            <source>{model_type} models aren't supported.</source>
            <translation>不支持 {model_type} 模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/import_compatibility.py"></location>
            <source>Dense model. Only Mixture-of-Experts models are supported.</source>
            <translation>稠密模型。只支持混合专家（MoE）模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/kept_list.py"></location>
            <source>{file} is damaged.</source>
            <translation>{file} 已损坏。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>Can't load {model}: {problem}</source>
            <translation>无法加载 {model}：{problem}</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>No model named {model}.</source>
            <translation>没有名为 {model} 的模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>Available: {builtin}.</source>
            <translation>可用：{builtin}。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>{path} isn't a model.</source>
            <translation>{path} 不是模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>Choose a folder with config.json and .safetensors files, a GGUF file, or an installed model.</source>
            <translation>选择含有 config.json 和 .safetensors 文件的文件夹、GGUF 文件，或已安装的模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>No unfinished import named {name}.</source>
            <translation>没有名为 {name} 的未完成导入。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>Import its source.</source>
            <translation>导入它的源模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>{name} was being imported while downloading.</source>
            <translation>{name} 是边下载边导入的。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>Download {source} again to resume.</source>
            <translation>再次下载 {source} 即可继续。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>A model named {name} already exists.</source>
            <translation>已有名为 {name} 的模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>Choose another name or delete that one.</source>
            <translation>换一个名称，或删除已有的那个。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>Emptying the trash frees {waiting} MB.</source>
            <translation>清空回收站可释放 {waiting} MB。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>The built-in model can't be renamed.</source>
            <translation>内置模型不能重命名。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>Rename a model that you added.</source>
            <translation>可以重命名你添加的模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>Can't delete {name}: {parent} isn't writable.</source>
            <translation>无法删除 {name}：{parent} 不可写入。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>Make its disk writable, or remove the folder from the list.</source>
            <translation>让它所在的磁盘可写，或从列表移除该文件夹。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>No model named {name}.</source>
            <translation>没有名为 {name} 的模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>Available: {there}.</source>
            <translation>可用：{there}。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>Import one first.</source>
            <translation>请先导入一个。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>The import of the built-in model</source>
            <translation>内置模型的导入</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>Underhill demo model</source>
            <translation>Underhill 演示模型</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>A tiny built-in model for trying the app. It is often wrong; download a bigger one for real use.</source>
            <translation>用于试用的内置小模型，经常出错；正式使用请下载更大的模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>A very small model: answers are simple and often wrong.</source>
            <translation>非常小的模型：回答简单，经常出错。</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>Runs in compatibility mode, more slowly.</source>
            <translation>以兼容模式运行，速度较慢。</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>{file} is missing from {name}.</source>
            <translation>{name} 中缺少 {file}。</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>Import the model again.</source>
            <translation>请重新导入模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>(Made from {source}.)</source>
            <translation>（来源：{source}。）</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>The copy of this model</source>
            <translation>此模型的复制</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>The import of this model</source>
            <translation>此模型的导入</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>Download</source>
            <translation>下载</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>Import</source>
            <translation>导入</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>{verb} {source} again to resume, or delete it.</source>
            <translation>再次{verb} {source} 即可继续，或删除它。</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>it</source>
            <translation>它</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>{how} wasn't finished.</source>
            <translation>{how}没有完成。</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>It failed: {why}</source>
            <translation>失败原因：{why}</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>{how} is in progress.</source>
            <translation>{how}正在进行。</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>Moving to {parent}.</source>
            <translation>正在移动到 {parent}。</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>Moving it to {parent} was interrupted.</source>
            <translation>移动到 {parent} 的过程中断了。</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>Move it there again to resume, or move it to its current folder to cancel.</source>
            <translation>再次移动到那里即可继续，或移动到当前文件夹以取消。</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>Connect its disk.</source>
            <translation>请连接它所在的磁盘。</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>Another {name} exists in {parent}.</source>
            <translation>{parent} 中还有一个 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>Rename {path} to use it.</source>
            <translation>重命名 {path} 后即可使用。</translation>
        </message>
        <message>
            <location filename="../../engine/library/lowering.py"></location>
            <source>Writing experts</source>
            <translation>正在写入专家</translation>
        </message>
        <message>
            <location filename="../../engine/library/lowering.py"></location>
            <source>Only models stored with 4 or 8 bits can be shrunk.</source>
            <translation>只有以 4 位或 8 位存储的模型才能缩小。</translation>
        </message>
        <message>
            <location filename="../../engine/library/lowering.py"></location>
            <source>The original of {name} no longer exists.</source>
            <translation>{name} 的原模型已不存在。</translation>
        </message>
        <message>
            <location filename="../../engine/library/lowering.py"></location>
            <source>Download or import the model again.</source>
            <translation>重新下载或导入该模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/relocation.py"></location>
            <source>The built-in model can't be moved.</source>
            <translation>内置模型不能移动。</translation>
        </message>
        <message>
            <location filename="../../engine/library/relocation.py"></location>
            <source>It is small.</source>
            <translation>它很小。</translation>
        </message>
        <message>
            <location filename="../../engine/library/relocation.py"></location>
            <source>{destination} already exists.</source>
            <translation>{destination} 已存在。</translation>
        </message>
        <message>
            <location filename="../../engine/library/relocation.py"></location>
            <source>Rename or move it, or choose another folder.</source>
            <translation>重命名或移走它，或选择其他文件夹。</translation>
        </message>
        <message>
            <location filename="../../engine/library/relocation.py"></location>
            <source>{name} moved to {goal}, but the old copy couldn't be removed.</source>
            <translation>{name} 已移到 {goal}，但旧副本无法移除。</translation>
        </message>
        <message>
            <location filename="../../engine/library/relocation.py"></location>
            <source>{sentence} Trying again later.</source>
            <translation>{sentence}稍后重试。</translation>
        </message>
        <message>
            <location filename="../../engine/library/relocation.py"></location>
            <source>No model in {folder}.</source>
            <translation>{folder} 中没有模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/relocation.py"></location>
            <source>Choose a folder with config.json and .safetensors files, or a model folder of this app.</source>
            <translation>选择含有 config.json 和 .safetensors 文件的文件夹，或本应用的模型文件夹。</translation>
        </message>
        <message>
            <location filename="../../engine/library/settings_file.py"></location>
            <source>{file} was saved by a newer version of Underhill (format {found}).</source>
            <translation>{file} 由更新版本的 Underhill 保存（格式 {found}）。</translation>
        </message>
        <message>
            <location filename="../../engine/library/settings_file.py"></location>
            <source>Install that version to change these settings. Nothing was changed.</source>
            <translation>安装那个版本后即可更改。原设置没有改动。</translation>
        </message>
        <message>
            <location filename="../../engine/library/settings_file.py"></location>
            <source>Repair it, or delete it to restore the defaults.</source>
            <translation>修复它，或删除它以恢复默认设置。</translation>
        </message>
        <message>
            <location filename="../../engine/library/speed_record.py"></location>
            <source>{low}–{high}</source>
            <translation>{low}–{high}</translation>
        </message>
        <message>
            <location filename="../../engine/library/speed_record.py"></location>
            <source>slower</source>
            <translation>慢</translation>
        </message>
        <message>
            <location filename="../../engine/library/speed_record.py"></location>
            <source>faster</source>
            <translation>快</translation>
        </message>
        <message>
            <location filename="../../engine/library/speed_record.py"></location>
            <source>Measured {measured} tok/s, {word} than the expected {span}.</source>
            <translation>实测 {measured} 词元/秒，比预计的 {span} {word}。</translation>
        </message>
        <message>
            <location filename="../../engine/library/store_copy.py"></location>
            <source>Can't move {name}: {parent} isn't writable.</source>
            <translation>无法移动 {name}：{parent} 不可写入。</translation>
        </message>
        <message>
            <location filename="../../engine/library/store_copy.py"></location>
            <source>Import it under another name to make a copy.</source>
            <translation>用其他名称导入，生成一个副本。</translation>
        </message>
        <message>
            <location filename="../../engine/library/store_copy.py"></location>
            <source>{name} already exists in {parent}.</source>
            <translation>{parent} 中已有 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/library/store_copy.py"></location>
            <source>Rename or delete that one first.</source>
            <translation>请先重命名或删除它。</translation>
        </message>
        <message>
            <location filename="../../engine/library/store_copy.py"></location>
            <source>Not enough disk space for {name} in {parent}.</source>
            <translation>{parent} 空间不足，放不下 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/library/store_copy.py"></location>
            <source>Free {free} MB, or choose another folder.</source>
            <translation>释放 {free} MB，或选择其他文件夹。</translation>
        </message>
        <message>
            <location filename="../../engine/library/store_copy.py"></location>
            <source>Copying</source>
            <translation>正在复制</translation>
        </message>
        <message>
            <location filename="../../engine/library/store_copy.py"></location>
            <source>{name} differs from the original</source>
            <translation>{name} 与原文件不同</translation>
        </message>
        <message>
            <location filename="../../engine/library/store_copy.py"></location>
            <source>Checking the copy</source>
            <translation>正在检查副本</translation>
        </message>
        <message>
            <location filename="../../engine/library/store_copy.py"></location>
            <source>The copy in {parent} is damaged: {what}.</source>
            <translation>{parent} 中的副本已损坏：{what}。</translation>
        </message>
        <message>
            <location filename="../../engine/library/store_copy.py"></location>
            <source>The original is unchanged. Verify it; if it is fine, the other disk is failing.</source>
            <translation>原模型没有改动。校验它；如果完好，则是另一块磁盘有故障。</translation>
        </message>
        <message>
            <location filename="../../engine/library/trash.py"></location>
            <source>No deleted model named {name}.</source>
            <translation>没有名为 {name} 的已删除模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/trash.py"></location>
            <source>Available: {others}.</source>
            <translation>可用：{others}。</translation>
        </message>
        <message>
            <location filename="../../engine/library/trash.py"></location>
            <source>The trash is empty.</source>
            <translation>回收站是空的。</translation>
        </message>
        <message>
            <location filename="../../engine/library/trash.py"></location>
            <source>Another model named {wanted} exists.</source>
            <translation>已有另一个名为 {wanted} 的模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/trash.py"></location>
            <source>Restore it under another name.</source>
            <translation>用其他名称恢复。</translation>
        </message>
        <message>
            <location filename="../../engine/library/verification.py"></location>
            <source>Verifying</source>
            <translation>正在校验</translation>
        </message>
        <message>
            <location filename="../../engine/limits.py"></location>
            <source>it holds more than any model's does</source>
            <translation>其内容超过了任何模型所有的</translation>
        </message>
        <message>
            <location filename="../../engine/limits.py"></location>
            <source>{name} is {shown}, and no model has more than {most}</source>
            <translation>{name} 为 {shown}，而没有模型超过 {most}</translation>
        </message>
        <message>
            <location filename="../../engine/limits.py"></location>
            <source>The schema holds more than can be followed, or is nested too deep.</source>
            <translation>模式的内容过多，或嵌套过深。</translation>
        </message>
        <message>
            <location filename="../../engine/limits.py"></location>
            <source>A text in the schema is too long.</source>
            <translation>模式中的某段文字过长。</translation>
        </message>
        <message>
            <location filename="../../engine/limits.py"></location>
            <source>The model's config.json is wrong: {what}.</source>
            <translation>模型的 config.json 有误：{what}。</translation>
        </message>
        <message>
            <location filename="../../engine/models/compat/modules.py"></location>
            <source>The tensor for {name} is {shape} large, and the config asks for {shape2}.</source>
            <translation>{name} 的张量大小为 {shape}，而配置要求 {shape2}。</translation>
        </message>
        <message>
            <location filename="../../engine/models/compat/modules.py"></location>
            <source>Download the model again: its config.json and its weights do not belong together.</source>
            <translation>请重新下载模型：它的 config.json 与权重不匹配。</translation>
        </message>
        <message>
            <location filename="../../engine/models/compat/modules.py"></location>
            <source>{names} and {len} more</source>
            <translation>{names} 等，另有 {len} 个</translation>
        </message>
        <message>
            <location filename="../../engine/models/compat/modules.py"></location>
            <source>The model's files lack {names}.</source>
            <translation>模型的文件缺少 {names}。</translation>
        </message>
        <message>
            <location filename="../../engine/models/compat/modules.py"></location>
            <source>A file is missing or from another model; download the model again.</source>
            <translation>缺少一个文件，或文件属于其他模型；请重新下载模型。</translation>
        </message>
        <message>
            <location filename="../../engine/models/config.py"></location>
            <source>Choose another model, or another version of this one.</source>
            <translation>请选择其他模型，或此模型的其他版本。</translation>
        </message>
        <message>
            <location filename="../../engine/models/config.py"></location>
            <source>This {family} model is dense: it has no experts, which is all that Underhill is made for.</source>
            <translation>这个 {family} 模型是稠密的：没有专家，而 Underhill 只为专家模型而设。</translation>
        </message>
        <message>
            <location filename="../../engine/models/config.py"></location>
            <source>a whole number from {low} on</source>
            <translation>不小于 {low} 的整数</translation>
        </message>
        <message>
            <location filename="../../engine/models/config.py"></location>
            <source>true or false</source>
            <translation>true 或 false</translation>
        </message>
        <message>
            <location filename="../../engine/models/config.py"></location>
            <source>a whole number, or a list of {layers}</source>
            <translation>一个整数，或 {layers} 个值的列表</translation>
        </message>
        <message>
            <location filename="../../engine/models/config.py"></location>
            <source>a list of whole numbers</source>
            <translation>整数列表</translation>
        </message>
        <message>
            <location filename="../../engine/models/config.py"></location>
            <source>a group of settings</source>
            <translation>一组设置</translation>
        </message>
        <message>
            <location filename="../../engine/models/config.py"></location>
            <source>a list of {layers}</source>
            <translation>{layers} 个值的列表</translation>
        </message>
        <message>
            <location filename="../../engine/models/config.py"></location>
            <source>This {family} model has layers that Underhill does not know: {shown}.</source>
            <translation>此 {family} 模型含有 Underhill 不认识的层：{shown}。</translation>
        </message>
        <message>
            <location filename="../../engine/models/config.py"></location>
            <source>This {family} model has {key} = {shown}, which Underhill cannot compute yet.</source>
            <translation>此 {family} 模型的 {key} = {shown}，Underhill 尚无法计算。</translation>
        </message>
        <message>
            <location filename="../../engine/models/config.py"></location>
            <source>This {family} model uses the activation {shown}, which Underhill does not know.</source>
            <translation>此 {family} 模型使用 Underhill 不认识的激活函数 {shown}。</translation>
        </message>
        <message>
            <location filename="../../engine/models/config.py"></location>
            <source>a divisor of the {heads} heads</source>
            <translation>{heads} 个注意力头的约数</translation>
        </message>
        <message>
            <location filename="../../engine/models/config.py"></location>
            <source>rope factor</source>
            <translation>rope 系数</translation>
        </message>
        <message>
            <location filename="../../engine/models/config.py"></location>
            <source>rope {key}</source>
            <translation>rope 的 {key}</translation>
        </message>
        <message>
            <location filename="../../engine/models/config.py"></location>
            <source>a whole number from 2 on</source>
            <translation>不小于 2 的整数</translation>
        </message>
        <message>
            <location filename="../../engine/models/config.py"></location>
            <source>This {family} model uses the rotary variant {kind}, which Underhill does not know.</source>
            <translation>这个 {family} 模型使用旋转位置编码变体 {kind}，Underhill 不认识。</translation>
        </message>
        <message>
            <location filename="../../engine/models/config.py"></location>
            <source>The model's config.json does not say {key}.</source>
            <translation>模型的 config.json 没有写明 {key}。</translation>
        </message>
        <message>
            <location filename="../../engine/models/config.py"></location>
            <source>a list of {dim} numbers</source>
            <translation>{dim} 个数的列表</translation>
        </message>
        <message>
            <location filename="../../engine/models/config.py"></location>
            <source>a number</source>
            <translation>一个数</translation>
        </message>
        <message>
            <location filename="../../engine/models/config.py"></location>
            <source>three whole numbers</source>
            <translation>三个整数</translation>
        </message>
        <message>
            <location filename="../../engine/models/config.py"></location>
            <source>three whole numbers whose sum is {sum}</source>
            <translation>三个整数，其和为 {sum}</translation>
        </message>
        <message>
            <location filename="../../engine/models/config.py"></location>
            <source>a number above 0</source>
            <translation>大于 0 的数</translation>
        </message>
        <message>
            <location filename="../../engine/models/config.py"></location>
            <source>The model's config.json is wrong: {key} is {shown} where {wanted} is needed.</source>
            <translation>模型的 config.json 有误：{key} 为 {shown}，而应为{wanted}。</translation>
        </message>
        <message>
            <location filename="../../engine/models/decoder.py"></location>
            <source>Torch computes the layers, more slowly than native code would: {reason}.</source>
            <translation>各层由 torch 计算，比原生代码慢：{reason}。</translation>
        </message>
        <message>
            <location filename="../../engine/models/families/__init__.py"></location>
            <source>{family} models run in compatibility mode only.</source>
            <translation>{family} 模型只能以兼容模式运行。</translation>
        </message>
        <message>
            <location filename="../../engine/models/families/__init__.py"></location>
            <source>The model's config.json does not say which family it belongs to (model_type).</source>
            <translation>模型的 config.json 没有写明它属于哪个系列（model_type）。</translation>
        </message>
        <message>
            <location filename="../../engine/models/families/__init__.py"></location>
            <source>This {family} model claims to have {layers} layers.</source>
            <translation>这个 {family} 模型自称有 {layers} 层。</translation>
        </message>
        <message>
            <location filename="../../engine/models/families/__init__.py"></location>
            <source>This {family} model asks for {k} of {experts} experts in {groups} groups.</source>
            <translation>这个 {family} 模型要求从 {experts} 个专家（{groups} 组）中选 {k} 个。</translation>
        </message>
        <message>
            <location filename="../../engine/models/families/__init__.py"></location>
            <source>This {family} model asks for {k} experts out of {top_groups} of {groups} groups of {experts}: there are not enough.</source>
            <translation>这个 {family} 模型要求从 {groups} 组（每组 {experts} 个）中的 {top_groups} 组里选 {k} 个专家：不够。</translation>
        </message>
        <message>
            <location filename="../../engine/models/families/__init__.py"></location>
            <source>This {family} model claims to have experts without weights.</source>
            <translation>这个 {family} 模型自称有不含权重的专家。</translation>
        </message>
        <message>
            <location filename="../../engine/models/families/deepseek.py"></location>
            <source>This {family} model chooses experts by {method}, which Underhill does not know.</source>
            <translation>这个 {family} 模型用 {method} 选择专家，Underhill 不认识这种方式。</translation>
        </message>
        <message>
            <location filename="../../engine/models/families/deepseek.py"></location>
            <source>The first layer of this {family} model has no indexer of its own.</source>
            <translation>这个 {family} 模型的第一层没有自己的索引器。</translation>
        </message>
        <message>
            <location filename="../../engine/models/families/deepseek.py"></location>
            <source>The indexer of this {family} model turns more dimensions than it has.</source>
            <translation>这个 {family} 模型的索引器旋转的维数多于它拥有的维数。</translation>
        </message>
        <message>
            <location filename="../../engine/models/families/deepseek_v4.py"></location>
            <source>This {family} model compresses by {unknown}, which Underhill does not know.</source>
            <translation>这个 {family} 模型按 {unknown} 压缩，Underhill 不认识这种方式。</translation>
        </message>
        <message>
            <location filename="../../engine/models/families/deepseek_v4.py"></location>
            <source>This {family} model turns {dim} of {head_dim} dimensions.</source>
            <translation>这个 {family} 模型在 {head_dim} 维中旋转 {dim} 维。</translation>
        </message>
        <message>
            <location filename="../../engine/models/families/grouped_query.py"></location>
            <source>This phimoe model asks for {top_k} experts per token; its router can only choose 2.</source>
            <translation>这个 phimoe 模型要求每个词元使用 {top_k} 个专家；而它的路由只能选 2 个。</translation>
        </message>
        <message>
            <location filename="../../engine/models/families/hunyuan.py"></location>
            <source>rope alpha</source>
            <translation>rope 的 alpha</translation>
        </message>
        <message>
            <location filename="../../engine/models/families/hunyuan.py"></location>
            <source>This {family} model stretches its context by an alpha of {alpha}.</source>
            <translation>这个 {family} 模型以 {alpha} 的 alpha 拉长其上下文。</translation>
        </message>
        <message>
            <location filename="../../engine/models/families/hybrid.py"></location>
            <source>This granitemoehybrid model bounds its time steps in a way that is not known.</source>
            <translation>这个 granitemoehybrid 模型限制时间步长的方式无法识别。</translation>
        </message>
        <message>
            <location filename="../../engine/models/families/hybrid.py"></location>
            <source>This nemotron_h model has blocks that Underhill does not know: {unknown}.</source>
            <translation>这个 nemotron_h 模型有 Underhill 不认识的块：{unknown}。</translation>
        </message>
        <message>
            <location filename="../../engine/models/families/llama.py"></location>
            <source>This {family} model does not say of every layer whether it rotates.</source>
            <translation>这个 {family} 模型没有说明每一层是否使用旋转位置。</translation>
        </message>
        <message>
            <location filename="../../engine/models/families/llama.py"></location>
            <source>This {family} model chooses {top_k} experts for a token, and not one.</source>
            <translation>这个 {family} 模型为每个词元选 {top_k} 个专家，而不是一个。</translation>
        </message>
        <message>
            <location filename="../../engine/models/families/minimax.py"></location>
            <source>The indexer of this {family} model does not fit its {kv_heads} key heads.</source>
            <translation>这个 {family} 模型的索引器与它的 {kv_heads} 个键头不相符。</translation>
        </message>
        <message>
            <location filename="../../engine/models/families/sliding_window.py"></location>
            <source>This {family} model has the pattern of windows {pattern}, which is not known.</source>
            <translation>这个 {family} 模型的窗口排列 {pattern} 无法识别。</translation>
        </message>
        <message>
            <location filename="../../engine/models/families/sliding_window.py"></location>
            <source>This {family} model has {heads} heads in some layers, for {kv_heads} key heads.</source>
            <translation>这个 {family} 模型在某些层有 {heads} 个头，而键头有 {kv_heads} 个。</translation>
        </message>
        <message>
            <location filename="../../engine/models/layers/weights.py"></location>
            <source>The weights of {name} are stored as {dtype}, a quantization that Underhill does not read.</source>
            <translation>{name} 的权重以 {dtype} 保存，Underhill 不能读取这种量化。</translation>
        </message>
        <message>
            <location filename="../../engine/models/op_graph/executor.py"></location>
            <source>layers without both of their halves, or with a shortcut, have no native ops</source>
            <translation>缺少一半或带捷径的层没有原生算子</translation>
        </message>
        <message>
            <location filename="../../engine/models/op_graph/feed_forward.py"></location>
            <source>{name} has no native ops</source>
            <translation>{name} 没有原生算子</translation>
        </message>
        <message>
            <location filename="../../engine/models/op_graph/feed_forward.py"></location>
            <source>an MLP without a gate has no native ops</source>
            <translation>没有门控的 MLP 没有原生算子</translation>
        </message>
        <message>
            <location filename="../../engine/models/op_graph/feed_forward.py"></location>
            <source>experts whose input is weighed, narrowed or passed on have no native ops</source>
            <translation>输入被加权、变窄或直接传递的专家没有原生运算</translation>
        </message>
        <message>
            <location filename="../../engine/models/op_graph/mixers.py"></location>
            <source>attention among chosen blocks has no native ops</source>
            <translation>对选定的块做注意力没有原生运算</translation>
        </message>
        <message>
            <location filename="../../engine/models/op_graph/mixers.py"></location>
            <source>attention by chunks, with a temperature or narrower values has no native ops</source>
            <translation>分块、带温度或值较窄的注意力没有原生算子</translation>
        </message>
        <message>
            <location filename="../../engine/models/op_graph/mixers.py"></location>
            <source>latent attention with an indexer, a temperature or no rotation has no native ops</source>
            <translation>带索引器、带温度或不旋转的潜在注意力没有原生算子</translation>
        </message>
        <message>
            <location filename="../../engine/models/shapes.py"></location>
            <source>{name} is {found} and should be {shapes}</source>
            <translation>{name} 为 {found}，而应为 {shapes}</translation>
        </message>
        <message>
            <location filename="../../engine/models/shapes.py"></location>
            <source>The model's config.json and its weights disagree: {what}.</source>
            <translation>模型的 config.json 与权重不一致：{what}。</translation>
        </message>
        <message>
            <location filename="../../engine/models/shapes.py"></location>
            <source>Download the model again and import it.</source>
            <translation>请重新下载并导入模型。</translation>
        </message>
        <message>
            <location filename="../../engine/models/vision/pictures.py"></location>
            <source>Make it smaller, then attach it again.</source>
            <translation>缩小后重新添加。</translation>
        </message>
        <message>
            <location filename="../../engine/models/vision/pictures.py"></location>
            <source>Too many images are being read at once.</source>
            <translation>同时读取的图片过多。</translation>
        </message>
        <message>
            <location filename="../../engine/models/vision/pictures.py"></location>
            <source>Send the message again.</source>
            <translation>重新发送消息。</translation>
        </message>
        <message>
            <location filename="../../engine/models/vision/pictures.py"></location>
            <source>The part of this model that reads images wasn't imported.</source>
            <translation>此模型读取图片的部分没有导入。</translation>
        </message>
        <message>
            <location filename="../../engine/models/vision/pictures.py"></location>
            <source>Import the model again from its original files, or send the message without images.</source>
            <translation>用原始文件重新导入模型，或发送不带图片的消息。</translation>
        </message>
        <message>
            <location filename="../../engine/models/vision/pictures.py"></location>
            <source>This model can't read images.</source>
            <translation>此模型无法读取图片。</translation>
        </message>
        <message>
            <location filename="../../engine/models/vision/pictures.py"></location>
            <source>Choose a model that can, or send the message without images.</source>
            <translation>选择能读取图片的模型，或发送不带图片的消息。</translation>
        </message>
        <message>
            <location filename="../../engine/models/vision/pictures.py"></location>
            <source>The image is too large: {megabytes} MB, the limit is {most} MB.</source>
            <translation>图片过大：{megabytes} MB，上限为 {most} MB。</translation>
        </message>
        <message>
            <location filename="../../engine/models/vision/pictures.py"></location>
            <source>Reading the image took too long.</source>
            <translation>读取图片用时过长。</translation>
        </message>
        <message>
            <location filename="../../engine/models/vision/pictures.py"></location>
            <source>Reading the image needs too much memory.</source>
            <translation>读取图片需要的内存过多。</translation>
        </message>
        <message>
            <location filename="../../engine/models/vision/pictures.py"></location>
            <source>The image is too large: {pixels} megapixels, the limit is {most}.</source>
            <translation>图片过大：{pixels} 百万像素，上限为 {most}。</translation>
        </message>
        <message>
            <location filename="../../engine/models/vision/pictures.py"></location>
            <source>The image is too narrow for this model.</source>
            <translation>图片对此模型来说过于狭长。</translation>
        </message>
        <message>
            <location filename="../../engine/models/vision/pictures.py"></location>
            <source>Crop it, then attach it again.</source>
            <translation>裁剪后重新添加。</translation>
        </message>
        <message>
            <location filename="../../engine/models/vision/pictures.py"></location>
            <source>The image can't be read. It is damaged, or not a PNG, JPEG or WebP file.</source>
            <translation>无法读取图片。它已损坏，或不是 PNG、JPEG 或 WebP 文件。</translation>
        </message>
        <message>
            <location filename="../../engine/models/vision/pictures.py"></location>
            <source>Open it in an image viewer, save it as PNG or JPEG, and attach that.</source>
            <translation>用图片查看器打开，另存为 PNG 或 JPEG 后再添加。</translation>
        </message>
        <message>
            <location filename="../../engine/models/vision/preparation.py"></location>
            <source>How this model wants its images prepared isn't known.</source>
            <translation>不知道此模型要求如何处理图片。</translation>
        </message>
        <message>
            <location filename="../../engine/native/expert_cache.py"></location>
            <source>no memory for a table of experts</source>
            <translation>没有内存可用于专家表</translation>
        </message>
        <message>
            <location filename="../../engine/native/expert_cache.py"></location>
            <source>no memory for how an expert is read</source>
            <translation>没有内存可用于读取专家的信息</translation>
        </message>
        <message>
            <location filename="../../engine/native/io_pool.py"></location>
            <source>The readers could not be started.</source>
            <translation>无法启动读取线程。</translation>
        </message>
        <message>
            <location filename="../../engine/native/io_pool.py"></location>
            <source>No memory is left to read with.</source>
            <translation>没有内存可用于读取。</translation>
        </message>
        <message>
            <location filename="../../engine/native/io_pool.py"></location>
            <source>No memory is left for a timeline.</source>
            <translation>没有内存可用于记录时间线。</translation>
        </message>
        <message>
            <location filename="../../engine/native/library.py"></location>
            <source>plain C</source>
            <translation>通用 C</translation>
        </message>
        <message>
            <location filename="../../engine/native/library.py"></location>
            <source>Underhill's native library was not built ({name} is missing).</source>
            <translation>Underhill 的本机库尚未编译（缺少 {name}）。</translation>
        </message>
        <message>
            <location filename="../../engine/native/library.py"></location>
            <source>Underhill's native library cannot be loaded ({error}).</source>
            <translation>无法加载 Underhill 的本机库（{error}）。</translation>
        </message>
        <message>
            <location filename="../../engine/native/library.py"></location>
            <source>Underhill's native library is of another version ({found}, not {abi}).</source>
            <translation>Underhill 的本机库版本不符（{found}，应为 {abi}）。</translation>
        </message>
        <message>
            <location filename="../../engine/native/library.py"></location>
            <source>Native kernels ({names}), {threads} {threads2}.</source>
            <translation>原生内核（{names}），{threads} {threads2}。</translation>
        </message>
        <message>
            <location filename="../../engine/native/library.py"></location>
            <source>thread</source>
            <translation>个线程</translation>
        </message>
        <message>
            <location filename="../../engine/native/library.py"></location>
            <source>threads</source>
            <translation>个线程</translation>
        </message>
        <message>
            <location filename="../../engine/native/prefetch.py"></location>
            <source>no memory for what is read ahead</source>
            <translation>没有内存可用于预读</translation>
        </message>
        <message>
            <location filename="../../engine/planning/budget.py"></location>
            <source>{available} of memory free; the app may use {safe}.</source>
            <translation>空闲内存 {available}，应用可使用 {safe}。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/budget.py"></location>
            <source>Memory limit lowered from {asked} GB to {at_most}: no more is free.</source>
            <translation>内存上限从 {asked} GB 降为 {at_most}：没有更多空闲内存。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/budget.py"></location>
            <source>Memory limit {asked}; the app itself uses {in_use}.</source>
            <translation>内存上限 {asked}，应用自身占用 {in_use}。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/context_length.py"></location>
            <source>Context: {found} tokens instead of {wanted}, to leave memory for experts.</source>
            <translation>上下文：{found} 词元（而非 {wanted}），为专家留出内存。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/context_length.py"></location>
            <source>to keep all experts in memory</source>
            <translation>以便将全部专家保留在内存</translation>
        </message>
        <message>
            <location filename="../../engine/planning/context_length.py"></location>
            <source>to leave memory for experts</source>
            <translation>为专家留出内存</translation>
        </message>
        <message>
            <location filename="../../engine/planning/context_length.py"></location>
            <source>Context: {found} of {wanted} tokens, {reason}. You can raise it in Settings.</source>
            <translation>上下文：{found} / {wanted} 词元，{reason}。可在设置中调高。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/fit.py"></location>
            <source>Not enough disk space: needs {disk}, {disk_free} free</source>
            <translation>磁盘空间不足：需要 {disk}，剩余 {disk_free}</translation>
        </message>
        <message>
            <location filename="../../engine/planning/fit.py"></location>
            <source>all in memory</source>
            <translation>全部在内存</translation>
        </message>
        <message>
            <location filename="../../engine/planning/fit.py"></location>
            <source>{whole}% in memory</source>
            <translation>{whole}% 在内存</translation>
        </message>
        <message>
            <location filename="../../engine/planning/fit.py"></location>
            <source>≈ {span} tok/s · {tier}-bit · {where}</source>
            <translation>≈ {span} 词元/秒 · {tier} 位 · {where}</translation>
        </message>
        <message>
            <location filename="../../engine/planning/memory_shares.py"></location>
            <source>Drafts with the model's own multi-token prediction ({size}).</source>
            <translation>使用模型自带的多词元预测起草（{size}）。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/memory_shares.py"></location>
            <source>{name} has no {tier}-bit experts.</source>
            <translation>{name} 没有精度为 {tier} 位的专家。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/memory_shares.py"></location>
            <source>Stored: {stored}.</source>
            <translation>已存储：{stored}。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/memory_shares.py"></location>
            <source>Raise the memory limit to {at_least} or choose a smaller model.</source>
            <translation>将内存上限提高到 {at_least}，或选择更小的模型。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/memory_shares.py"></location>
            <source>Close other apps or choose a smaller model.</source>
            <translation>关闭其他应用，或选择更小的模型。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/memory_shares.py"></location>
            <source>{name} needs {at_least} of memory; {at_most} may be used.</source>
            <translation>{name} 需要 {at_least} 内存，可用 {at_most}。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/memory_shares.py"></location>
            <source>Shared weights are 4-bit so that the model fits; this costs some precision.</source>
            <translation>共享权重为 4 位以放得下模型，会损失一些精度。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/memory_shares.py"></location>
            <source>Shared weights are {possible}: {wanted} isn't possible with this model.</source>
            <translation>共享权重为 {possible}：此模型不支持 {wanted}。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/memory_shares.py"></location>
            <source>KV cache: 8-bit, to leave memory for experts.</source>
            <translation>KV 缓存：8 位，为专家留出内存。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/memory_shares.py"></location>
            <source>KV cache: bf16; this model's can't be 8-bit.</source>
            <translation>KV 缓存：bf16；此模型不支持 8 位。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/memory_shares.py"></location>
            <source>All experts ({whole}) fit in memory and run at {tier}-bit, whatever the quality setting.</source>
            <translation>全部专家（{whole}）都在内存中，以 {tier} 位运行，与质量设置无关。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/memory_shares.py"></location>
            <source>Experts in memory: {cache} of {whole} ({whole2}%) at {tier}-bit; the rest is read from disk.</source>
            <translation>内存中的专家：{cache} / {whole}（{whole2}%），{tier} 位；其余从磁盘读取。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>CPU</source>
            <translation>CPU</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>CPU + GPU</source>
            <translation>CPU + GPU</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>GPU</source>
            <translation>GPU</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{name} isn't used: this model's experts are not quantized.</source>
            <translation>未使用 {name}：此模型的专家未量化。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{name} isn't used: its driver needs memory that the model needs.</source>
            <translation>未使用 {name}：其驱动会占用模型所需的内存。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{name} isn't used: too little of its memory is free.</source>
            <translation>未使用 {name}：可用显存太少。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{name} isn't used: the CPU is as fast (estimated).</source>
            <translation>未使用 {name}：估计 CPU 一样快。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{name} isn't used: {speed} tok/s were measured with it, the CPU alone is faster.</source>
            <translation>未使用 {name}：用它实测为 {speed} tok/s，仅用 CPU 更快。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{name}: {device_experts} of experts in GPU memory; others are copied there when they are needed.</source>
            <translation>{name}：{device_experts} 的专家在显存中；其余的在需要时复制过去。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{name}: {device_experts} of experts in GPU memory; the CPU computes the others at the same time.</source>
            <translation>{name}：{device_experts} 专家在显存中；其余由 CPU 同时计算。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>Speed: about {span} tok/s (estimated).</source>
            <translation>速度：约 {span} tok/s（估计）。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>Speed: about {speed} tok/s (measured with the GPU).</source>
            <translation>速度：约 {speed} tok/s（使用显卡实测）。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{name} isn't used: CPU is selected.</source>
            <translation>不使用 {name}：已选择 CPU。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{name} isn't used: it has no memory of its own.</source>
            <translation>未使用 {name}：它没有独立显存。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{name} isn't used: it is too old.</source>
            <translation>未使用 {name}：型号太旧。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{name} isn't used: another GPU is.</source>
            <translation>未使用 {name}：已使用另一块 GPU。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>This GPU is too old.</source>
            <translation>此 GPU 太旧。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>No NVIDIA GPU with its own memory found.</source>
            <translation>未找到带独立显存的 NVIDIA GPU。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{names} can't run here. {why_not}</source>
            <translation>{names} 无法在此运行。{why_not}</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>Choose {auto} or {cpu}.</source>
            <translation>选择 {auto} 或 {cpu}。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{name} has no memory of its own: no gain.</source>
            <translation>{name} 没有独立显存：不会更快。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>It doesn't fit in GPU memory.</source>
            <translation>显存放不下。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{names}: not possible.</source>
            <translation>{names}：不可行。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{names}: about {span} tok/s (in use).</source>
            <translation>{names}：约 {span} 词元/秒（使用中）。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{names}: about {span} tok/s.</source>
            <translation>{names}：约 {span} tok/s。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{names}: about {span} tok/s estimated, {device_experts} of experts in GPU memory. {against}</source>
            <translation>{names}：估计约 {span} 词元/秒，显存中专家 {device_experts}。{against}</translation>
        </message>
        <message>
            <location filename="../../engine/planning/plan.py"></location>
            <source>An image takes up to {most} of memory while it is read.</source>
            <translation>读取图片时，每张最多占用 {most} 内存。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/plan.py"></location>
            <source>directly ({int}/s)</source>
            <translation>直接读取（{int}/s）</translation>
        </message>
        <message>
            <location filename="../../engine/planning/plan.py"></location>
            <source>through the file cache ({int}/s)</source>
            <translation>经由文件缓存（{int}/s）</translation>
        </message>
        <message>
            <location filename="../../engine/planning/plan.py"></location>
            <source>Experts are read {ways}, faster than {ways2}.</source>
            <translation>专家{ways}，快于{ways2}。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/plan.py"></location>
            <source>Experts are read through the file cache ({int}/s), faster than directly ({int2}/s).</source>
            <translation>专家经由文件缓存读取（{int}/s），快于直接读取（{int2}/s）。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/speed.py"></location>
            <source>disk reads</source>
            <translation>磁盘读取</translation>
        </message>
        <message>
            <location filename="../../engine/planning/speed.py"></location>
            <source>memory speed</source>
            <translation>内存速度</translation>
        </message>
        <message>
            <location filename="../../engine/planning/speed.py"></location>
            <source>up to {high}</source>
            <translation>最高 {high}</translation>
        </message>
        <message>
            <location filename="../../engine/planning/speed.py"></location>
            <source>, measured here</source>
            <translation>（本机实测）</translation>
        </message>
        <message>
            <location filename="../../engine/planning/speed.py"></location>
            <source>, {span} with a full context</source>
            <translation>，上下文占满后 {span}</translation>
        </message>
        <message>
            <location filename="../../engine/planning/speed.py"></location>
            <source>Speed: {span} tok/s{learned}{later}. Limited by {what}.</source>
            <translation>速度：{span} 词元/秒{learned}{later}。瓶颈：{what}。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/speed.py"></location>
            <source>about {low}–{high}</source>
            <translation>约 {low}–{high}</translation>
        </message>
        <message>
            <location filename="../../engine/planning/speed.py"></location>
            <source>about {low}</source>
            <translation>约 {low}</translation>
        </message>
        <message>
            <location filename="../../engine/planning/speed.py"></location>
            <source>{prompt}-token prompt: under {shortest} s to first token.</source>
            <translation>{prompt} 词元的提示词：首词元不到 {shortest} 秒。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/speed.py"></location>
            <source>{fast}–{slow}</source>
            <translation>{fast}–{slow}</translation>
        </message>
        <message>
            <location filename="../../engine/planning/speed.py"></location>
            <source>{prompt}-token prompt: about 1.0 s to first token.</source>
            <translation>{prompt} 词元的提示词：首词元约 1.0 秒。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/speed.py"></location>
            <source>{prompt}-token prompt: about {span} s to first token.</source>
            <translation>{prompt} 词元的提示词：首词元约 {span} 秒。</translation>
        </message>
        <message>
            <location filename="../../engine/process/engine_process.py"></location>
            <source>The engine stopped (exit code {code}).</source>
            <translation>引擎已停止（退出代码 {code}）。</translation>
        </message>
        <message>
            <location filename="../../engine/process/engine_process.py"></location>
            <source>The engine was ended ({name}).</source>
            <translation>引擎被结束（{name}）。</translation>
        </message>
        <message>
            <location filename="../../engine/process/engine_process.py"></location>
            <source>The system may have run out of memory.</source>
            <translation>可能是系统内存耗尽。</translation>
        </message>
        <message>
            <location filename="../../engine/protocol/events.py"></location>
            <source>The engine stopped.</source>
            <translation>引擎已停止。</translation>
        </message>
        <message>
            <location filename="../../engine/protocol/events.py"></location>
            <source>Your chats are safe. Restart it to continue.</source>
            <translation>你的对话没有丢失。重新启动引擎即可继续。</translation>
        </message>
        <message>
            <location filename="../../engine/protocol/events.py"></location>
            <source>The engine didn't respond and was ended.</source>
            <translation>引擎没有响应，已被结束。</translation>
        </message>
        <message>
            <location filename="../../engine/protocol/events.py"></location>
            <source>Your chats are safe. It restarts and loads the model.</source>
            <translation>你的对话没有丢失。引擎正在重新启动并加载模型。</translation>
        </message>
        <message>
            <location filename="../../engine/quantization/planes.py"></location>
            <source>Layer {layer}, expert {expert}: {name} holds numbers that are not finite.</source>
            <translation>第 {layer} 层专家 {expert}：{name} 中有非有限的数值。</translation>
        </message>
        <message>
            <location filename="../../engine/server/access_key.py"></location>
            <source>A key has at least {least} characters: letters, digits and signs, no spaces.</source>
            <translation>密钥至少 {least} 个字符：字母、数字和符号，不含空格。</translation>
        </message>
        <message>
            <location filename="../../engine/server/asking.py"></location>
            <source>There is no model called {name} here.</source>
            <translation>这里没有名为 {name} 的模型。</translation>
        </message>
        <message>
            <location filename="../../engine/server/asking.py"></location>
            <source>Those that can be asked: {names}.</source>
            <translation>可用的模型：{names}。</translation>
        </message>
        <message>
            <location filename="../../engine/server/bridge.py"></location>
            <source>Too many requests wait for an answer.</source>
            <translation>等待回答的请求过多。</translation>
        </message>
        <message>
            <location filename="../../engine/server/bridge.py"></location>
            <source>Ask again later.</source>
            <translation>稍后再试。</translation>
        </message>
        <message>
            <location filename="../../engine/server/http.py"></location>
            <source>The answer took longer than a request may.</source>
            <translation>回答所用时间超过了单个请求的上限。</translation>
        </message>
        <message>
            <location filename="../../engine/server/listener.py"></location>
            <source>{host} is no address of this computer.</source>
            <translation>{host} 不是这台电脑的地址。</translation>
        </message>
        <message>
            <location filename="../../engine/server/listener.py"></location>
            <source>Take 127.0.0.1, or an address of one of its networks.</source>
            <translation>使用 127.0.0.1，或它所在网络中的地址。</translation>
        </message>
        <message>
            <location filename="../../engine/server/listener.py"></location>
            <source>Another app uses port {port}, so the local server cannot be turned on.</source>
            <translation>端口 {port} 正被其他应用使用，无法开启本地服务器。</translation>
        </message>
        <message>
            <location filename="../../engine/server/listener.py"></location>
            <source>Choose another port, or end the app that has it.</source>
            <translation>换一个端口，或结束占用它的应用。</translation>
        </message>
        <message>
            <location filename="../../engine/server/listener.py"></location>
            <source>The local server cannot listen at {host}, port {port}: {why}.</source>
            <translation>本地服务器无法监听 {host} 端口 {port}：{why}。</translation>
        </message>
        <message>
            <location filename="../../engine/server/listener.py"></location>
            <source>Choose another port.</source>
            <translation>换一个端口。</translation>
        </message>
        <message>
            <location filename="../../engine/server/local_server.py"></location>
            <source>At {host} other computers could ask, so a key is needed.</source>
            <translation>在 {host} 上其他电脑也能访问，因此需要密钥。</translation>
        </message>
        <message>
            <location filename="../../engine/server/local_server.py"></location>
            <source>Set a key, or take 127.0.0.1, where only apps on this computer can ask.</source>
            <translation>设置密钥，或使用 127.0.0.1，只让这台电脑上的应用访问。</translation>
        </message>
        <message>
            <location filename="../../engine/service/comparing.py"></location>
            <source>Measuring KL</source>
            <translation>正在测量 KL</translation>
        </message>
        <message>
            <location filename="../../engine/service/endpoints.py"></location>
            <source>An endpoint can't continue an answer.</source>
            <translation>端点无法继续一个回答。</translation>
        </message>
        <message>
            <location filename="../../engine/service/endpoints.py"></location>
            <source>Regenerate it instead.</source>
            <translation>改为重新生成。</translation>
        </message>
        <message>
            <location filename="../../engine/service/endpoints.py"></location>
            <source>Offline mode is on, and this answer would come from another computer.</source>
            <translation>离线模式已开启，而这个回答要来自另一台电脑。</translation>
        </message>
        <message>
            <location filename="../../engine/service/library_worker.py"></location>
            <source>Paused: {text}</source>
            <translation>已暂停：{text}</translation>
        </message>
        <message>
            <location filename="../../engine/service/library_worker.py"></location>
            <source>{name} is in use.</source>
            <translation>{name} 正在使用。</translation>
        </message>
        <message>
            <location filename="../../engine/service/library_worker.py"></location>
            <source>Select another model first.</source>
            <translation>先选择其他模型。</translation>
        </message>
        <message>
            <location filename="../../engine/service/recordings.py"></location>
            <source>Recording ended: it can't be saved ({reason}).</source>
            <translation>记录已结束：无法保存（{reason}）。</translation>
        </message>
        <message>
            <location filename="../../engine/service/recordings.py"></location>
            <source>Recording ended after {passes} steps.</source>
            <translation>记录在 {passes} 步后结束。</translation>
        </message>
        <message>
            <location filename="../../engine/service/recordings.py"></location>
            <source>No model loaded.</source>
            <translation>未加载模型。</translation>
        </message>
        <message>
            <location filename="../../engine/service/recordings.py"></location>
            <source>Select a model first.</source>
            <translation>先选择模型。</translation>
        </message>
        <message>
            <location filename="../../engine/service/recordings.py"></location>
            <source>Replaying</source>
            <translation>正在重放</translation>
        </message>
        <message>
            <location filename="../../engine/service/recordings.py"></location>
            <source>The recording is gone.</source>
            <translation>记录已不存在。</translation>
        </message>
        <message>
            <location filename="../../engine/service/recordings.py"></location>
            <source>Record again.</source>
            <translation>请重新记录。</translation>
        </message>
        <message>
            <location filename="../../engine/service/recordings.py"></location>
            <source>The recording is damaged.</source>
            <translation>记录已损坏。</translation>
        </message>
        <message>
            <location filename="../../engine/service/recordings.py"></location>
            <source>There is no recording {name}.</source>
            <translation>没有名为 {name} 的记录。</translation>
        </message>
        <message>
            <location filename="../../engine/service/teams.py"></location>
            <source>No step of {team} is for this message.</source>
            <translation>“{team}”没有适合此消息的步骤。</translation>
        </message>
        <message>
            <location filename="../../engine/service/teams.py"></location>
            <source>Add a step without conditions at its end.</source>
            <translation>在末尾添加一个没有条件的步骤。</translation>
        </message>
        <message>
            <location filename="../../engine/service/teams.py"></location>
            <source>A team answers with text alone: no tools, no schema, no log probabilities.</source>
            <translation>团队只能以文本回答：不支持工具、模式和对数概率。</translation>
        </message>
        <message>
            <location filename="../../engine/service/teams.py"></location>
            <source>Ask one model for these.</source>
            <translation>这些功能只能询问单个模型。</translation>
        </message>
        <message>
            <location filename="../../engine/service/teams.py"></location>
            <source>A team answers a message; it can't continue an answer.</source>
            <translation>团队回答消息，不能继续已有的回答。</translation>
        </message>
        <message>
            <location filename="../../engine/service/transfers.py"></location>
            <source>Can't store {top} bits.</source>
            <translation>不能以 {top} 位存储。</translation>
        </message>
        <message>
            <location filename="../../engine/service/transfers.py"></location>
            <source>Choose 4, 8 or 16.</source>
            <translation>请选择 4、8 或 16。</translation>
        </message>
        <message>
            <location filename="../../engine/service/transfers.py"></location>
            <source>{repo} is already in Downloads.</source>
            <translation>{repo} 已在下载列表中。</translation>
        </message>
        <message>
            <location filename="../../engine/service/transfers.py"></location>
            <source>Resume or cancel that one.</source>
            <translation>继续或取消那一个。</translation>
        </message>
        <message>
            <location filename="../../engine/service/transfers.py"></location>
            <source>This download is no longer in the list.</source>
            <translation>此下载已不在列表中。</translation>
        </message>
        <message>
            <location filename="../../engine/service/transfers.py"></location>
            <source>Checking</source>
            <translation>正在检查</translation>
        </message>
        <message>
            <location filename="../../engine/service/transfers.py"></location>
            <source>Downloading</source>
            <translation>正在下载</translation>
        </message>
        <message>
            <location filename="../../engine/session/bottleneck.py"></location>
            <source>Slowed down by other apps ({others} of the processor).</source>
            <translation>其他应用占用处理器的 {others}，速度变慢。</translation>
        </message>
        <message>
            <location filename="../../engine/session/bottleneck.py"></location>
            <source>Generating…</source>
            <translation>正在生成…</translation>
        </message>
        <message>
            <location filename="../../engine/session/bottleneck.py"></location>
            <source>{read} per token</source>
            <translation>每词元 {read}</translation>
        </message>
        <message>
            <location filename="../../engine/session/bottleneck.py"></location>
            <source>Limited by disk: {a_token} at {read}/s, {waiting} of the time waiting. More memory helps.</source>
            <translation>瓶颈是磁盘：{a_token}，{read}/s，{waiting} 的时间在等待。增加内存可提速。</translation>
        </message>
        <message>
            <location filename="../../engine/session/bottleneck.py"></location>
            <source>Limited by computing: {a_token} from disk, {waiting} of the time waiting for it.</source>
            <translation>瓶颈是计算：从磁盘读取{a_token}，{waiting} 的时间在等待。</translation>
        </message>
        <message>
            <location filename="../../engine/session/bottleneck.py"></location>
            <source>Processing prompt.</source>
            <translation>正在处理提示词。</translation>
        </message>
        <message>
            <location filename="../../engine/session/bottleneck.py"></location>
            <source>Processing prompt at {prompt_tokens} tok/s</source>
            <translation>正在处理提示词，{prompt_tokens} 词元/秒</translation>
        </message>
        <message>
            <location filename="../../engine/session/bottleneck.py"></location>
            <source>{said}, limited by disk reads ({read}/s).</source>
            <translation>{said}，瓶颈是磁盘读取（{read}/s）。</translation>
        </message>
        <message>
            <location filename="../../engine/session/bottleneck.py"></location>
            <source>{said}, limited by computing.</source>
            <translation>{said}，瓶颈是计算。</translation>
        </message>
        <message>
            <location filename="../../engine/session/bottleneck.py"></location>
            <source>All experts in memory. Limited by memory: {weights} per token at {taken}/s ({value} of its speed).</source>
            <translation>专家全部在内存。瓶颈是内存：每词元 {weights}，{taken}/s（内存速度的 {value}）。</translation>
        </message>
        <message>
            <location filename="../../engine/session/bottleneck.py"></location>
            <source>All experts in memory. Limited by computing.</source>
            <translation>专家全部在内存。瓶颈是计算。</translation>
        </message>
        <message>
            <location filename="../../engine/session/cache_budget.py"></location>
            <source>Can't read free memory; experts in memory stay as they are.</source>
            <translation>无法读取空闲内存；内存中的专家保持不变。</translation>
        </message>
        <message>
            <location filename="../../engine/session/cache_budget.py"></location>
            <source>Experts in memory: {kept} instead of {planned}; the app needs more itself.</source>
            <translation>内存中的专家：{kept}（计划 {planned}）；应用自身需要更多内存。</translation>
        </message>
        <message>
            <location filename="../../engine/session/cache_budget.py"></location>
            <source>Memory is low: {kept} of experts in memory instead of {planned}. Answers are slower.</source>
            <translation>内存不足：内存中的专家 {kept}（计划 {planned}），回答会变慢。</translation>
        </message>
        <message>
            <location filename="../../engine/session/cache_budget.py"></location>
            <source>Memory is available again: {planned} of experts in memory.</source>
            <translation>内存已恢复：内存中的专家 {planned}。</translation>
        </message>
        <message>
            <location filename="../../engine/session/card_session.py"></location>
            <source>{name} was checked against the CPU: {rows} rows of this model's experts differ by at most {worst}.</source>
            <translation>{name} 已与 CPU 核对：此模型专家的 {rows} 行结果最多相差 {worst}。</translation>
        </message>
        <message>
            <location filename="../../engine/session/card_session.py"></location>
            <source>{size} of attention in GPU memory, up to {tokens} tokens: {there} ms per token instead of {here}.</source>
            <translation>显存中有 {size} 的注意力层，最多 {tokens} 个词元：每个词元 {there} 毫秒，而不是 {here} 毫秒。</translation>
        </message>
        <message>
            <location filename="../../engine/session/card_session.py"></location>
            <source>{size} of shared weights in GPU memory: {there} ms per token instead of {here}.</source>
            <translation>{size} 的共享权重在显存中：每词元 {there} 毫秒，而非 {here} 毫秒。</translation>
        </message>
        <message>
            <location filename="../../engine/session/card_session.py"></location>
            <source>CPU only. {sentence}</source>
            <translation>仅用 CPU。{sentence}</translation>
        </message>
        <message>
            <location filename="../../engine/session/card_session.py"></location>
            <source>The CPU computes attention: this model's kind of it can't run on the GPU.</source>
            <translation>由 CPU 计算注意力：此模型的注意力类型无法在 GPU 上运行。</translation>
        </message>
        <message>
            <location filename="../../engine/session/card_session.py"></location>
            <source>The CPU computes attention: the KV cache is 8-bit.</source>
            <translation>由 CPU 计算注意力：KV 缓存为 8 位。</translation>
        </message>
        <message>
            <location filename="../../engine/session/card_session.py"></location>
            <source>The CPU computes attention: it would take {size} of GPU memory.</source>
            <translation>由 CPU 计算注意力：放到 GPU 上需要 {size} 显存。</translation>
        </message>
        <message>
            <location filename="../../engine/session/card_session.py"></location>
            <source>The CPU computes attention: {name} is no faster.</source>
            <translation>由 CPU 计算注意力：{name} 并不更快。</translation>
        </message>
        <message>
            <location filename="../../engine/session/loaded_model.py"></location>
            <source>Can't save measurements in {store}.</source>
            <translation>无法将测量结果保存到 {store}。</translation>
        </message>
        <message>
            <location filename="../../engine/session/loaded_model.py"></location>
            <source>Check that the folder is writable.</source>
            <translation>检查该文件夹是否可写。</translation>
        </message>
        <message>
            <location filename="../../engine/session/policy_weights.py"></location>
            <source>Can't save eviction weights in {parent}.</source>
            <translation>无法将淘汰权重保存到 {parent}。</translation>
        </message>
        <message>
            <location filename="../../engine/session/predictor_store.py"></location>
            <source>Saving predictors</source>
            <translation>正在保存预测器</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>gates</source>
            <translation>门控</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>trained gates</source>
            <translation>训练后的门控</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>token table</source>
            <translation>词元表</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>layer pairs</source>
            <translation>层配对</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>activation paths</source>
            <translation>激活路径</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>activation matrices</source>
            <translation>激活矩阵</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>all combined</source>
            <translation>全部合用</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>gates and token table</source>
            <translation>门控和词元表</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>trained gates and token table</source>
            <translation>训练后的门控和词元表</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>{lacking} Using {words}.</source>
            <translation>{lacking}使用{words}。</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>Gates can't predict for this model.</source>
            <translation>此模型无法用门控预测。</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>Gates can't predict in compatibility mode.</source>
            <translation>兼容模式下无法用门控预测。</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>Gates aren't trained yet.</source>
            <translation>门控尚未训练。</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>The combined predictor isn't calibrated yet.</source>
            <translation>组合预测器尚未校准。</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>Layer pairs would need {nbytes} of memory.</source>
            <translation>层配对需要 {nbytes} 内存。</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>Activation matrices need “Remember expert use”.</source>
            <translation>激活矩阵需要开启“记住专家使用情况”。</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>Prefetch: measuring ({words})</source>
            <translation>预取：正在统计（{words}）</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>Prefetch: paused, {correct}% correct ({words})</source>
            <translation>预取：已暂停，命中 {correct}%（{words}）</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>Prefetch: {correct}% correct, {wasted}% wasted ({words})</source>
            <translation>预取：命中 {correct}%，浪费 {wasted}%（{words}）</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>Prefetch: {correct}% correct ({words})</source>
            <translation>预取：命中 {correct}%（{words}）</translation>
        </message>
        <message>
            <location filename="../../engine/session/session.py"></location>
            <source>The cache policy only sees the open chat: “Remember expert use” is off.</source>
            <translation>缓存策略只依据当前对话：“记住专家使用情况”已关闭。</translation>
        </message>
        <message>
            <location filename="../../engine/session/session.py"></location>
            <source>Measuring this computer</source>
            <translation>正在为这台电脑测速</translation>
        </message>
        <message>
            <location filename="../../engine/session/session.py"></location>
            <source>Loading model</source>
            <translation>正在加载模型</translation>
        </message>
        <message>
            <location filename="../../engine/session/session.py"></location>
            <source>The built-in model was damaged and has been rebuilt.</source>
            <translation>内置模型已损坏，现已重建。</translation>
        </message>
        <message>
            <location filename="../../engine/session/session.py"></location>
            <source>Reload the model to apply {label}.</source>
            <translation>重新加载模型后 {label} 才生效。</translation>
        </message>
        <message>
            <location filename="../../engine/session/session.py"></location>
            <source>Reload it.</source>
            <translation>重新加载它。</translation>
        </message>
        <message>
            <location filename="../../engine/session/session.py"></location>
            <source>The tokenizer doesn't match the model: token {ids} of {known}.</source>
            <translation>分词器与模型不匹配：词元 {ids}，模型只有 {known} 个。</translation>
        </message>
        <message>
            <location filename="../../engine/session/session.py"></location>
            <source>Import the model again with its own tokenizer.</source>
            <translation>连同所属的分词器重新导入模型。</translation>
        </message>
        <message>
            <location filename="../../engine/session/snapshot.py"></location>
            <source>Idle</source>
            <translation>空闲</translation>
        </message>
        <message>
            <location filename="../../engine/session/warm_start.py"></location>
            <source>Can't delete the usage data in {path}.</source>
            <translation>无法删除 {path} 中的使用记录。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>on or off</source>
            <translation>开或关</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>one of {choices}</source>
            <translation>{choices} 之一</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>text</source>
            <translation>文本</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>{names} numbers from 0 up, not all 0: {lower}</source>
            <translation>{names} 个不小于 0 的数，不全为 0：{lower}</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>a whole number from {low} to {high}</source>
            <translation>{low} 到 {high} 之间的整数</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>a percentage from {low} to {high}</source>
            <translation>{low} 到 {high} 之间的百分比</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>a number from {low} to {high}</source>
            <translation>{low} 到 {high} 之间的数</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>{label} can't be {value}.</source>
            <translation>{label} 不能为 {value}。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Use {allowed}.</source>
            <translation>应为{allowed}。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>{label} only works with {label2}: {name_of}.</source>
            <translation>{label} 仅在“{label2}”为“{name_of}”时有效。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>There is no setting {name}.</source>
            <translation>没有名为 {name} 的设置。</translation>
        </message>
        <message>
            <location filename="../../engine/store/dense.py"></location>
            <source>{name} is cut short</source>
            <translation>{name} 不完整</translation>
        </message>
        <message>
            <location filename="../../engine/store/dense.py"></location>
            <source>The model has no tensor {name}.</source>
            <translation>模型没有张量 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/store/dense.py"></location>
            <source>tensor {name} is cut short</source>
            <translation>张量 {name} 不完整</translation>
        </message>
        <message>
            <location filename="../../engine/store/dense.py"></location>
            <source>tensor {name} does not match its checksum</source>
            <translation>张量 {name} 与校验和不符</translation>
        </message>
        <message>
            <location filename="../../engine/store/fields.py"></location>
            <source>{where} is not a JSON object</source>
            <translation>{where} 不是 JSON 对象</translation>
        </message>
        <message>
            <location filename="../../engine/store/fields.py"></location>
            <source>{where} lacks {name}</source>
            <translation>{where} 缺少 {name}</translation>
        </message>
        <message>
            <location filename="../../engine/store/fields.py"></location>
            <source>{name} in {where}</source>
            <translation>{where} 中的 {name}</translation>
        </message>
        <message>
            <location filename="../../engine/store/fields.py"></location>
            <source>{name} in {where} is not a number in range</source>
            <translation>{where} 中的 {name} 不是范围内的数</translation>
        </message>
        <message>
            <location filename="../../engine/store/fields.py"></location>
            <source>{name} in {where} is not text</source>
            <translation>{where} 中的 {name} 不是文本</translation>
        </message>
        <message>
            <location filename="../../engine/store/fields.py"></location>
            <source>{name} in {where} is not a plain file name</source>
            <translation>{where} 中的 {name} 不是单纯的文件名</translation>
        </message>
        <message>
            <location filename="../../engine/store/fields.py"></location>
            <source>{name} in {where} is not true or false</source>
            <translation>{where} 中的 {name} 不是 true 或 false</translation>
        </message>
        <message>
            <location filename="../../engine/store/fields.py"></location>
            <source>{name} in {where} is not a list of at most {longest} items</source>
            <translation>{where} 中的 {name} 不是最多 {longest} 项的列表</translation>
        </message>
        <message>
            <location filename="../../engine/store/fields.py"></location>
            <source>{name} in {where} is not a JSON object</source>
            <translation>{where} 中的 {name} 不是 JSON 对象</translation>
        </message>
        <message>
            <location filename="../../engine/store/fields.py"></location>
            <source>{what} is not a whole number from {low} to {high}</source>
            <translation>{what} 不是 {low} 到 {high} 之间的整数</translation>
        </message>
        <message>
            <location filename="../../engine/store/fields.py"></location>
            <source>{where} is not readable JSON</source>
            <translation>{where} 不是可读的 JSON</translation>
        </message>
        <message>
            <location filename="../../engine/store/lock.py"></location>
            <source>{what} is already in progress.</source>
            <translation>{what}正在进行。</translation>
        </message>
        <message>
            <location filename="../../engine/store/lock.py"></location>
            <source>Wait for it to finish.</source>
            <translation>等它完成。</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>Update the app or import it again.</source>
            <translation>更新应用，或重新导入。</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>its manifest</source>
            <translation>它的清单</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>its manifest is not one of an expert store</source>
            <translation>它的清单不是专家库的清单</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>an older</source>
            <translation>较旧</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>a newer</source>
            <translation>较新</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>This model was made by {made} version of the app (format {version}, not {version2}).</source>
            <translation>此模型由{made}的应用版本生成（格式 {version}，不是 {version2}）。</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>its manifest does not match its own checksum</source>
            <translation>它的清单与自身的校验和不符</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>spec {i}</source>
            <translation>规格 {i}</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>dense tensor {i}</source>
            <translation>稠密张量 {i}</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>file entry {i}</source>
            <translation>文件条目 {i}</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>its manifest lists no layer of experts</source>
            <translation>它的清单没有列出任何专家层</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>its manifest names a {what} twice</source>
            <translation>它的清单两次列出 {what}</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>tensor {name}</source>
            <translation>张量 {name}</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>dense weights</source>
            <translation>稠密权重</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>its source</source>
            <translation>它的来源</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>its quality table</source>
            <translation>它的质量表</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>a coding of {where}</source>
            <translation>{where} 的编码</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>{where} is impossible ({cause})</source>
            <translation>{where} 不合理（{cause}）</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>layer entry {i}</source>
            <translation>层条目 {i}</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>its manifest lists no expert of layer {index}</source>
            <translation>它的清单没有列出第 {index} 层的专家</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>expert {e}</source>
            <translation>专家 {e}</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>layer {index}</source>
            <translation>第 {index} 层</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>expert {e} of layer {index}</source>
            <translation>第 {index} 层的专家 {e}</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>the entry of {where} is not a list</source>
            <translation>{where} 的条目不是列表</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>the spec of {where}</source>
            <translation>{where} 的规格</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>the offset of {where}</source>
            <translation>{where} 的偏移</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>a checksum of {where}</source>
            <translation>{where} 的校验和</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>the entry of {where} is impossible</source>
            <translation>{where} 的条目不合理</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>a dimension of {name}</source>
            <translation>{name} 的维度</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>the coding of {name}</source>
            <translation>{name} 的编码</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>tensor {name} is impossible ({cause})</source>
            <translation>张量 {name} 不可能如此（{cause}）</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>the size of tensor {name} is impossible</source>
            <translation>张量 {name} 的大小不合理</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>source file {i}</source>
            <translation>源文件 {i}</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>its note on lowered experts</source>
            <translation>它关于降精度专家的记录</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>{before} and {name} overlap in {where}</source>
            <translation>{where} 中 {before} 与 {name} 重叠</translation>
        </message>
        <message>
            <location filename="../../engine/store/output.py"></location>
            <source>{file} is open in another app or protected.</source>
            <translation>{file} 正被其他应用打开，或受到保护。</translation>
        </message>
        <message>
            <location filename="../../engine/store/output.py"></location>
            <source>Close that app, then try again.</source>
            <translation>关闭那个应用，然后重试。</translation>
        </message>
        <message>
            <location filename="../../engine/store/output.py"></location>
            <source>Can't write {path} ({strerror}).</source>
            <translation>无法写入 {path}（{strerror}）。</translation>
        </message>
        <message>
            <location filename="../../engine/store/output.py"></location>
            <source>Not enough disk space in {parent}.</source>
            <translation>{parent} 磁盘空间不足。</translation>
        </message>
        <message>
            <location filename="../../engine/store/output.py"></location>
            <source>{room}, then try again to resume.</source>
            <translation>{room}，然后重试即可继续。</translation>
        </message>
        <message>
            <location filename="../../engine/store/problems.py"></location>
            <source>The model is damaged: {what}.</source>
            <translation>模型已损坏：{what}。</translation>
        </message>
        <message>
            <location filename="../../engine/store/problems.py"></location>
            <source>{name} is missing from the model.</source>
            <translation>模型中缺少 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/store/problems.py"></location>
            <source>expert {expert} of layer {layer} is cut short</source>
            <translation>第 {layer} 层的专家 {expert} 不完整</translation>
        </message>
        <message>
            <location filename="../../engine/store/problems.py"></location>
            <source>expert {expert} of layer {layer} (part {part}) does not match its checksum</source>
            <translation>第 {layer} 层的专家 {expert}（{part} 部分）与校验和不符</translation>
        </message>
        <message>
            <location filename="../../engine/store/problems.py"></location>
            <source>The disk could not read expert {expert} of layer {layer} ({strerror}).</source>
            <translation>磁盘无法读取第 {layer} 层的专家 {expert}（{strerror}）。</translation>
        </message>
        <message>
            <location filename="../../engine/store/reader.py"></location>
            <source>This disk doesn't support direct I/O.</source>
            <translation>此磁盘不支持直接 I/O。</translation>
        </message>
        <message>
            <location filename="../../engine/store/reader.py"></location>
            <source>Switch it to auto or off.</source>
            <translation>请把它设为自动或关闭。</translation>
        </message>
        <message>
            <location filename="../../engine/store/reader.py"></location>
            <source>This disk doesn't support direct I/O ({strerror}); the file cache is used.</source>
            <translation>此磁盘不支持直接 I/O（{strerror}），使用文件缓存。</translation>
        </message>
        <message>
            <location filename="../../engine/store/reader.py"></location>
            <source>{file} is cut short</source>
            <translation>{file} 不完整</translation>
        </message>
        <message>
            <location filename="../../engine/store/reader.py"></location>
            <source>its manifest is impossibly long</source>
            <translation>它的清单长得不合理</translation>
        </message>
        <message>
            <location filename="../../engine/store/reader.py"></location>
            <source>No imported model at {path}.</source>
            <translation>{path} 中没有已导入的模型。</translation>
        </message>
        <message>
            <location filename="../../engine/store/reader.py"></location>
            <source>Select a model or import one.</source>
            <translation>选择或导入模型。</translation>
        </message>
        <message>
            <location filename="../../engine/store/table.py"></location>
            <source>tensor {name} holds numbers that are not finite</source>
            <translation>张量 {name} 含有非有限的数</translation>
        </message>
        <message>
            <location filename="../../engine/store/table.py"></location>
            <source>row {row} of tensor {name} does not match its checksum</source>
            <translation>张量 {name} 的第 {row} 行与其校验和不符</translation>
        </message>
        <message>
            <location filename="../../engine/store/verify.py"></location>
            <source>the header or the length of {name} is not as it was written</source>
            <translation>{name} 的文件头或长度与写入时不同</translation>
        </message>
        <message>
            <location filename="../../engine/store/verify.py"></location>
            <source>{name} is not as long as it was</source>
            <translation>{name} 的长度与原来不同</translation>
        </message>
        <message>
            <location filename="../../engine/store/verify.py"></location>
            <source>{name} does not match its checksum</source>
            <translation>{name} 与校验和不符</translation>
        </message>
        <message>
            <location filename="../../engine/store/writer.py"></location>
            <source>An import, a move or the removal of {name}</source>
            <translation>{name} 的导入、移动或移除</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>This is not a team.</source>
            <translation>这不是团队文件。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>This team was made by a newer version of the app.</source>
            <translation>此团队由更新版本的应用创建。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>Install that version to use it.</source>
            <translation>安装该版本后即可使用。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>The team</source>
            <translation>团队</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>A team can't be named {name}.</source>
            <translation>团队不能命名为 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>Use letters and digits.</source>
            <translation>使用字母和数字。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>The team has no steps.</source>
            <translation>团队没有步骤。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>The team has more than {most} steps.</source>
            <translation>团队的步骤超过 {most} 个。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>Every step is a note for the team, so there would be no answer.</source>
            <translation>所有步骤都只是团队的内部备注，因此不会有回答。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>A step of the team is damaged.</source>
            <translation>团队的一个步骤已损坏。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>A step can't be named {name}.</source>
            <translation>步骤不能命名为 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>Step {name}</source>
            <translation>步骤“{name}”</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>{where}: its conditions are damaged, or too many.</source>
            <translation>{where}：条件已损坏或过多。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>{where}: choices have to be two or more, and different.</source>
            <translation>{where}：选项须为两个或更多，且各不相同。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>{where}: more than {most} texts in braces.</source>
            <translation>{where}：花括号中的内容超过 {most} 处。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>{where}: a team can't ask a team.</source>
            <translation>{where}：团队不能询问另一个团队。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>Choose a model.</source>
            <translation>选择一个模型。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>{where}: a condition is not one that is known.</source>
            <translation>{where}：有无法识别的条件。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>{where}: a condition says nothing to look for, or too much.</source>
            <translation>{where}：条件没有要查找的内容，或内容多余。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>{where}: {name} is no language that is known.</source>
            <translation>{where}：无法识别语言 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>{where}: a length has to be a number above 0.</source>
            <translation>{where}：长度须为大于 0 的数字。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>{where}: only a message has attachments.</source>
            <translation>{where}：只有消息才有附件。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>Two steps are named {name}.</source>
            <translation>有两个步骤都叫“{name}”。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>Give each a name of its own.</source>
            <translation>为每个步骤取不同的名称。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>Step {name} needs step {other}, which comes later.</source>
            <translation>步骤“{name}”需要步骤“{other}”，但后者排在后面。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>Step {name} needs step {other}, which isn't there.</source>
            <translation>步骤“{name}”需要步骤“{other}”，但没有这个步骤。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>Step {name} goes back to {other}, so the team would go round in circles.</source>
            <translation>步骤“{name}”回到“{other}”，团队会陷入循环。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>Choose a later step.</source>
            <translation>选择后面的步骤。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>{name} can't be a name.</source>
            <translation>{name} 不能用作名称。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>Use 1 to {most} letters, on one line, without braces.</source>
            <translation>使用 1 到 {most} 个字符，单行，不含花括号。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>{where}: {name} has to be a text of at most {most} characters.</source>
            <translation>{where}：{name} 须为不超过 {most} 个字符的文本。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>{where}: {name} holds characters that can't be shown.</source>
            <translation>{where}：{name} 含有无法显示的字符。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>{where}: {name} has to be a list of at most {most} texts.</source>
            <translation>{where}：{name} 须为不超过 {most} 项的文本列表。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>{where}: {name} holds an empty text.</source>
            <translation>{where}：{name} 含有空文本。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>{where}: {name} has to be true or false.</source>
            <translation>{where}：{name} 须为 true 或 false。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/definition.py"></location>
            <source>{where}: {name} is not known.</source>
            <translation>{where}：无法识别 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/folder.py"></location>
            <source>There is no team called {name}.</source>
            <translation>没有名为 {name} 的团队。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/folder.py"></location>
            <source>Step {step} of {team} asks {model}, which isn't in the library.</source>
            <translation>“{team}”的步骤“{step}”要询问 {model}，但它不在模型库中。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/folder.py"></location>
            <source>Import it, or choose another model in the team.</source>
            <translation>导入该模型，或在团队中选择其他模型。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/folder.py"></location>
            <source>Step {step} of {team} asks the open model, and none is open.</source>
            <translation>“{team}”的步骤“{step}”要询问已打开的模型，但没有打开的模型。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/folder.py"></location>
            <source>Select a model first, or choose one in the team.</source>
            <translation>先选择模型，或在团队中指定一个。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/folder.py"></location>
            <source>There is no file {file}.</source>
            <translation>没有文件 {file}。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/folder.py"></location>
            <source>{file} is too large for a team.</source>
            <translation>{file} 过大，不是团队文件。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/folder.py"></location>
            <source>{file} isn't valid JSON.</source>
            <translation>{file} 不是有效的 JSON。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/folder.py"></location>
            <source>There is a team named {name} already.</source>
            <translation>已有名为“{name}”的团队。</translation>
        </message>
        <message>
            <location filename="../../engine/teams/folder.py"></location>
            <source>There are {most} teams already.</source>
            <translation>已有 {most} 个团队。</translation>
        </message>
        <message>
            <location filename="../../engine/toolservers/connections.py"></location>
            <source>Offline mode is on, and this server is on another computer.</source>
            <translation>离线模式已开启，而此服务器在另一台电脑上。</translation>
        </message>
        <message>
            <location filename="../../engine/toolservers/connections.py"></location>
            <source>The server has ended.</source>
            <translation>服务器已结束。</translation>
        </message>
        <message>
            <location filename="../../engine/toolservers/connections.py"></location>
            <source>The server sent a message without end.</source>
            <translation>服务器发送了没有结尾的消息。</translation>
        </message>
        <message>
            <location filename="../../engine/toolservers/connections.py"></location>
            <source>Tools that can't be used: {count}.</source>
            <translation>无法使用的工具：{count} 个。</translation>
        </message>
        <message>
            <location filename="../../engine/toolservers/connections.py"></location>
            <source>The tool server {name} isn't running.</source>
            <translation>工具服务器 {name} 没有运行。</translation>
        </message>
        <message>
            <location filename="../../engine/toolservers/connections.py"></location>
            <source>The settings say what is wrong.</source>
            <translation>原因见设置。</translation>
        </message>
        <message>
            <location filename="../../engine/toolservers/connections.py"></location>
            <source>The tool didn't answer in time.</source>
            <translation>工具没有及时回应。</translation>
        </message>
        <message>
            <location filename="../../engine/toolservers/connections.py"></location>
            <source>The tool server {name} ended during the call.</source>
            <translation>工具服务器 {name} 在调用期间结束了。</translation>
        </message>
        <message>
            <location filename="../../engine/toolservers/connections.py"></location>
            <source>The server didn't answer within {seconds} s.</source>
            <translation>服务器在 {seconds} 秒内没有回应。</translation>
        </message>
        <message>
            <location filename="../../engine/toolservers/connections.py"></location>
            <source>There is no program {command}.</source>
            <translation>没有程序 {command}。</translation>
        </message>
        <message>
            <location filename="../../engine/toolservers/connections.py"></location>
            <source>Can't reach {url}.</source>
            <translation>无法连接 {url}。</translation>
        </message>
        <message>
            <location filename="../../engine/toolservers/connections.py"></location>
            <source>The server failed: {why}</source>
            <translation>服务器出错：{why}</translation>
        </message>
        <message>
            <location filename="../../engine/toolservers/definition.py"></location>
            <source>A tool server needs a name of at most {most} characters.</source>
            <translation>工具服务器需要一个名称，最多 {most} 个字符。</translation>
        </message>
        <message>
            <location filename="../../engine/toolservers/definition.py"></location>
            <source>A tool server needs either a command or an address.</source>
            <translation>工具服务器需要一个命令或一个地址。</translation>
        </message>
        <message>
            <location filename="../../engine/toolservers/definition.py"></location>
            <source>The command, its arguments or its variables are too long.</source>
            <translation>命令、参数或变量太长。</translation>
        </message>
        <message>
            <location filename="../../engine/toolservers/definition.py"></location>
            <source>{name} can't be the name of a variable or a header.</source>
            <translation>{name} 不能作为变量或请求头的名称。</translation>
        </message>
        <message>
            <location filename="../../engine/toolservers/definition.py"></location>
            <source>The value of {name} has characters that no header can have.</source>
            <translation>{name} 的值含有请求头不允许的字符。</translation>
        </message>
        <message>
            <location filename="../../engine/toolservers/folder.py"></location>
            <source>Delete it and add your tool servers again.</source>
            <translation>请删除它，并重新添加工具服务器。</translation>
        </message>
        <message>
            <location filename="../../engine/toolservers/folder.py"></location>
            <source>There is no tool server called {name}.</source>
            <translation>没有名为 {name} 的工具服务器。</translation>
        </message>
        <message>
            <location filename="../../engine/toolservers/folder.py"></location>
            <source>There is a tool server named {name} already.</source>
            <translation>已有名为 {name} 的工具服务器。</translation>
        </message>
        <message>
            <location filename="../../engine/toolservers/folder.py"></location>
            <source>There are {most} tool servers already.</source>
            <translation>已有 {most} 个工具服务器。</translation>
        </message>
        <message>
            <location filename="../../engine/tracing/recorder.py"></location>
            <source>Nothing was recorded.</source>
            <translation>没有记录到内容。</translation>
        </message>
        <message>
            <location filename="../../engine/tracing/recorder.py"></location>
            <source>Record a chat with at least one answer.</source>
            <translation>请记录至少有一个回答的对话。</translation>
        </message>
        <message>
            <location filename="../../engine/tracing/trace.py"></location>
            <source>The trace cannot be written to {path} ({strerror}).</source>
            <translation>无法把轨迹写入 {path}（{strerror}）。</translation>
        </message>
        <message>
            <location filename="../../engine/tracing/trace.py"></location>
            <source>{full}; the chat is not affected.</source>
            <translation>{full}；对话不受影响。</translation>
        </message>
        <message>
            <location filename="../../engine/tracing/trace.py"></location>
            <source>Check the folder</source>
            <translation>请检查该文件夹</translation>
        </message>
        <message>
            <location filename="../../engine/tracing/trace.py"></location>
            <source>{path} is a routing trace of version {version}, which this Underhill does not know.</source>
            <translation>{path} 是第 {version} 版的路由轨迹，此版本的 Underhill 不认识。</translation>
        </message>
        <message>
            <location filename="../../engine/tracing/trace.py"></location>
            <source>Update Underhill, or record again.</source>
            <translation>请更新 Underhill，或重新记录。</translation>
        </message>
        <message>
            <location filename="../../engine/tracing/trace.py"></location>
            <source>There is no trace {path}.</source>
            <translation>没有轨迹 {path}。</translation>
        </message>
        <message>
            <location filename="../../engine/tracing/trace.py"></location>
            <source>{path} is not a routing trace, or is damaged.</source>
            <translation>{path} 不是路由轨迹，或已损坏。</translation>
        </message>
        <message>
            <location filename="../../engine/tracing/trace.py"></location>
            <source>{path} contradicts itself.</source>
            <translation>{path} 自相矛盾。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Quality</source>
            <translation>质量</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Exact: full precision. Balanced: almost no loss. Fast: small loss, fewer disk reads.</source>
            <translation>精确：全精度。均衡：几乎无损失。快速：损失较小，磁盘读取更少。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Automatic</source>
            <translation>自动</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Exact</source>
            <translation>精确</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Threshold T1</source>
            <translation>阈值 T1</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Experts that score T1 or lower use full precision.</source>
            <translation>分数不高于 T1 的专家使用全精度。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Threshold T2</source>
            <translation>阈值 T2</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Experts that score T2 or lower use lower precision; above T2 they are skipped.</source>
            <translation>分数不高于 T2 的专家使用低精度，高于 T2 的跳过。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Cache-aware routing</source>
            <translation>缓存感知路由</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Let an expert in memory stand in for a missing one with a similar score. Never under Exact. Auto: where calibration finds the loss small.</source>
            <translation>让内存中的专家顶替得分相近但不在内存中的专家。“精确”下从不使用。“自动”：仅在校准测得损失很小时使用。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Auto</source>
            <translation>自动</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>On</source>
            <translation>开</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Off</source>
            <translation>关</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Expert precision</source>
            <translation>专家精度</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Bits per weight of experts at full precision.</source>
            <translation>全精度专家的每权重位数。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>As stored</source>
            <translation>与存储相同</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>8-bit</source>
            <translation>8 位</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>4-bit</source>
            <translation>4 位</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>2-bit</source>
            <translation>2 位</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Lower expert precision</source>
            <translation>专家低精度</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Bits per weight of experts at lower precision. 4-bit loses less and reads slower.</source>
            <translation>低精度专家的每权重位数。4 位损失更少，读取更慢。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Lowest stored</source>
            <translation>存储的最低精度</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Experts kept in memory</source>
            <translation>内存中的专家</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>More in memory means fewer disk reads.</source>
            <translation>内存中的专家越多，磁盘读取越少。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Memory limit (GB)</source>
            <translation>内存上限（GB）</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>The app stays below this.</source>
            <translation>应用占用的内存不超过此值。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Cache policy</source>
            <translation>缓存策略</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Which expert leaves memory first when space is needed.</source>
            <translation>空间不足时，哪个专家先离开内存。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>HOBBIT</source>
            <translation>HOBBIT</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>LRU</source>
            <translation>LRU</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>LRU per layer</source>
            <translation>LRU（每层）</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>LFU</source>
            <translation>LFU</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>EdgeMoE</source>
            <translation>EdgeMoE</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Activation</source>
            <translation>激活感知</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Eviction weights</source>
            <translation>淘汰权重</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>How much each criterion counts when an expert has to leave.</source>
            <translation>淘汰专家时各项标准的权重。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Fitted</source>
            <translation>拟合</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Recency</source>
            <translation>最近使用</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Frequency</source>
            <translation>使用频率</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Precision</source>
            <translation>精度</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Distance</source>
            <translation>距离</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Prefetch experts</source>
            <translation>预取专家</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Read likely experts before they are needed. Doesn't change answers.</source>
            <translation>提前读取可能用到的专家，不影响回答。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Predictor</source>
            <translation>预测器</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>What predicts the experts to prefetch.</source>
            <translation>预取专家的预测方式。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Gates</source>
            <translation>门控</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Trained gates</source>
            <translation>训练后的门控</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Token table</source>
            <translation>词元表</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Layer pairs</source>
            <translation>层配对</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Activation paths</source>
            <translation>激活路径</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Activation matrices</source>
            <translation>激活矩阵</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>All combined</source>
            <translation>全部合用</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Prefetch depth (layers)</source>
            <translation>预取深度（层）</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>How many layers ahead to prefetch.</source>
            <translation>提前预取多少层。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Prefetch width (experts)</source>
            <translation>预取宽度（专家）</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Most experts to prefetch per layer.</source>
            <translation>每层最多预取的专家数。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Speculative decoding</source>
            <translation>推测解码</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Guess the next words and check several at once. Doesn't change answers.</source>
            <translation>猜测接下来的词，并一次检查多个。不会改变回答。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Remember expert use</source>
            <translation>记住专家使用情况</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Saves usage counts for a faster start. No text is saved; off deletes them.</source>
            <translation>保存使用计数，下次启动更快。不保存文本；关闭即删除。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Compute device</source>
            <translation>计算设备</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Where the model is computed. Auto uses the fastest that works here.</source>
            <translation>模型的计算位置。“自动”使用可用的最快设备。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>The GPU to use, by its number, from 0. Automatic: the one with most free memory.</source>
            <translation>要使用的 GPU 的编号，从 0 开始。自动：可用显存最多的一块。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Disk threads</source>
            <translation>磁盘线程</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Disk reads at the same time.</source>
            <translation>同时进行的磁盘读取数。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Direct I/O</source>
            <translation>直接 I/O</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Bypass the system's file cache when reading experts.</source>
            <translation>读取专家时绕过系统文件缓存。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>CPU threads</source>
            <translation>CPU 线程数</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Threads used for computing.</source>
            <translation>用于计算的线程数。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Context length (tokens)</source>
            <translation>上下文长度（词元）</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Maximum context. Longer needs more memory.</source>
            <translation>最大上下文。越长占用内存越多。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Shared weights</source>
            <translation>共享权重</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Precision of all weights that aren't experts.</source>
            <translation>专家以外所有权重的精度。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>float32</source>
            <translation>float32</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>bf16</source>
            <translation>bf16</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>KV cache</source>
            <translation>KV 缓存</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Precision of the context's memory. 8-bit takes about half. Auto uses it where experts need the room.</source>
            <translation>上下文内存的精度。8 位约占一半内存。“自动”在专家需要内存时使用它。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Activations</source>
            <translation>激活值</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Round activations to 8 bits (faster) or keep them exact.</source>
            <translation>将激活值舍入到 8 位（更快），或保持精确。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Temperature</source>
            <translation>温度</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Higher is more varied; 0 always picks the likeliest token.</source>
            <translation>越高越多样；0 总是选择最可能的词元。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Top P</source>
            <translation>Top P</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Keep the likeliest tokens that together reach this probability.</source>
            <translation>只保留累计概率达到此值的最可能词元。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Top K</source>
            <translation>Top K</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Keep only this many likeliest tokens; 0 keeps all.</source>
            <translation>只从概率最高的 K 个词元中选择；0 表示不限。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Min P</source>
            <translation>Min P</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Drop tokens less likely than this share of the likeliest.</source>
            <translation>舍弃概率低于“最高概率 × 此值”的词元。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Repeat penalty</source>
            <translation>重复惩罚</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Above 1 makes repeated words less likely.</source>
            <translation>大于 1 时减少重复用词。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Seed</source>
            <translation>种子</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>The same seed gives the same answer.</source>
            <translation>相同的种子给出相同的回答。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Max answer length (tokens)</source>
            <translation>最大回答长度（词元）</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Stop after this many tokens.</source>
            <translation>生成这么多词元后停止。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Model hub URL</source>
            <translation>模型站地址</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Where to search for and download models, for example a mirror.</source>
            <translation>搜索和下载模型的地址，例如镜像站。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Proxy URL</source>
            <translation>代理地址</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Searches and downloads go through it.</source>
            <translation>搜索和下载会经过它。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Offline mode</source>
            <translation>离线模式</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>No searches, no downloads, no network use.</source>
            <translation>不搜索、不下载、不使用网络。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Model folders</source>
            <translation>模型文件夹</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>New models are saved in the first. 'default' is the app's own folder.</source>
            <translation>新模型保存在第一个。'default' 是应用自己的文件夹。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Pause imports below battery level (%)</source>
            <translation>电量低于此值时暂停导入（%）</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>On battery power, imports wait below this level. 0 never waits.</source>
            <translation>使用电池且电量低于此值时，导入会等待；0 表示从不等待。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Port</source>
            <translation>端口</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Choose another if an app already uses this one.</source>
            <translation>如果已有应用使用此端口，请另选一个。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Who can connect</source>
            <translation>谁可以连接</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Other computers on the local network need the key. The connection is not encrypted.</source>
            <translation>局域网中的其他电脑需要密钥。连接未加密。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Only this computer</source>
            <translation>仅这台电脑</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>The local network</source>
            <translation>本地网络</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Start with the app</source>
            <translation>随应用启动</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Turn the server on when the app starts.</source>
            <translation>应用启动时启动服务器。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>All-rounder for most computers, with optional thinking.</source>
            <translation>适合大多数电脑的全能模型，可开启思考。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Large all-rounder, strong at code, math and tools.</source>
            <translation>大型全能模型，擅长编程、数学和工具。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>All-rounder that answers without thinking first.</source>
            <translation>不思考、直接回答的全能模型。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Reads images; answers without thinking first.</source>
            <translation>可读取图片，直接回答，不先思考。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Made for coding.</source>
            <translation>专为编程而做。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Made for coding; much knowledge for little computing.</source>
            <translation>专为编程而做，知识多、计算少。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Small enough for most computers, thinks briefly.</source>
            <translation>适合大多数电脑，会简短思考。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Large: strong at reasoning, fast for its size.</source>
            <translation>大型：擅长推理，相对其大小速度快。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Compact GLM for chat, code and tools.</source>
            <translation>小巧的 GLM，适合对话、编程和工具。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Large all-rounder, good at code and long tasks.</source>
            <translation>大型全能模型，擅长编程和长任务。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Very large GLM for code and long tasks.</source>
            <translation>超大 GLM，适合编程和长任务。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Among the strongest open models for code and long tasks; needs a very large disk.</source>
            <translation>编程和长任务方面最强的开放模型之一，需要很大的磁盘。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Strong at code and reasoning, very long context; native 4-bit.</source>
            <translation>擅长编程与推理，上下文很长；原生 4 位。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Among the strongest open models, and among the largest.</source>
            <translation>最强的开放模型之一，也是最大的之一。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Fast, long context with little memory; good at tools and reasoning.</source>
            <translation>速度快，长上下文占用内存少；擅长工具和推理。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Multilingual all-rounder, fast for its size, with optional thinking.</source>
            <translation>多语言全能模型，相对其大小速度快，可开启思考。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Very large; among the strongest open models, native 4-bit.</source>
            <translation>超大；最强的开放模型之一，原生 4 位。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Very large, very strong at reasoning; native 4-bit.</source>
            <translation>超大，推理能力很强；原生 4 位。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Large; made for code and tools.</source>
            <translation>大型；适合编程和工具。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Very large; made for code, tools and very long texts.</source>
            <translation>超大；适合编程、工具和超长文本。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Small and fast, fully open (data, code, weights).</source>
            <translation>小而快，完全开放（数据、代码、权重）。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Very small: runs anywhere, for simple tasks.</source>
            <translation>非常小：到处都能运行，适合简单任务。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Small, long context with little memory.</source>
            <translation>小型，长上下文占用内存少。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>For documents and tools, long context with little memory.</source>
            <translation>适合文档和工具，长上下文占用内存少。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Good at Chinese and English, fast for its size.</source>
            <translation>擅长中英文，相对其大小速度快。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Made for laptops: fast, thinks before answering.</source>
            <translation>为笔记本电脑而做：速度快，先思考再回答。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>From Google, good at many languages; reads images.</source>
            <translation>来自 Google，擅长多种语言，可读取图片。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Trained in the United States; good at tools and long texts.</source>
            <translation>在美国训练；擅长工具和长文本。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Large all-rounder, strong at Chinese; fast or slow thinking.</source>
            <translation>大型全能模型，擅长中文；可快思考或慢思考。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Very large; strong at Chinese, code and tools.</source>
            <translation>超大；擅长中文、编程和工具。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Large all-rounder, strong at Korean and English.</source>
            <translation>大型全能模型，擅长韩文和英文。</translation>
        </message>
        <message>
            <location filename="../../app/i18n/build.py"></location>
            <source>Permission denied</source>
            <translation>没有权限</translation>
        </message>
        <message>
            <location filename="../../app/i18n/build.py"></location>
            <source>No space left on device</source>
            <translation>设备上没有空间</translation>
        </message>
        <message>
            <location filename="../../app/i18n/build.py"></location>
            <source>Input/output error</source>
            <translation>输入/输出错误</translation>
        </message>
        <message>
            <location filename="../../app/i18n/build.py"></location>
            <source>Read-only file system</source>
            <translation>只读文件系统</translation>
        </message>
        <message>
            <location filename="../../app/i18n/build.py"></location>
            <source>No such file or directory</source>
            <translation>没有此文件或目录</translation>
        </message>
        <message>
            <location filename="../../app/i18n/build.py"></location>
            <source>Is a directory</source>
            <translation>是一个目录</translation>
        </message>
        <message>
            <location filename="../../app/i18n/build.py"></location>
            <source>Not a directory</source>
            <translation>不是目录</translation>
        </message>
        <message>
            <location filename="../../app/i18n/build.py"></location>
            <source>File exists</source>
            <translation>文件已存在</translation>
        </message>
        <message>
            <location filename="../../app/i18n/build.py"></location>
            <source>Invalid argument</source>
            <translation>参数无效</translation>
        </message>
        <message>
            <location filename="../../app/i18n/build.py"></location>
            <source>Too many open files</source>
            <translation>打开的文件过多</translation>
        </message>
        <message>
            <location filename="../../app/i18n/build.py"></location>
            <source>File name too long</source>
            <translation>文件名过长</translation>
        </message>
        <message>
            <location filename="../../app/i18n/build.py"></location>
            <source>Operation not permitted</source>
            <translation>不允许此操作</translation>
        </message>
        <message>
            <location filename="../../app/i18n/build.py"></location>
            <source>Disk quota exceeded</source>
            <translation>超出磁盘配额</translation>
        </message>
        <message>
            <location filename="../../app/i18n/build.py"></location>
            <source>File too large</source>
            <translation>文件过大</translation>
        </message>
        <message>
            <location filename="../../app/i18n/build.py"></location>
            <source>, </source>
            <translation>、</translation>
        </message>
        <message>
            <location filename="../../app/i18n/build.py"></location>
            <source>; </source>
            <translation>；</translation>
        </message>
    </context>
    <context>
        <name>QFileDialog</name>
        <message>
            <location filename="../../Qt"></location>
            <source>&amp;Look in:</source>
            <translation>查找范围(&amp;L)：</translation>
        </message>
        <message>
            <location filename="../../Qt"></location>
            <source>Files of &amp;type:</source>
            <translation>文件类型(&amp;T)：</translation>
        </message>
    </context>
</TS>
