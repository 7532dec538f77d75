<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
    <context>
        <name>window</name>
        <message>
            <location filename="../../app/application.py"></location>
            <source>Some settings could not be used.</source>
            <translation>部分设置无法使用。</translation>
        </message>
        <message>
            <location filename="../../app/application.py"></location>
            <source>Underhill is already running but does not answer.</source>
            <translation>Underhill 已在运行，但没有响应。</translation>
        </message>
        <message>
            <location filename="../../app/application.py"></location>
            <source>If it stays like that, end the process {number} with the system's task manager.</source>
            <translation>如果一直这样，请用系统的任务管理器结束进程 {number}。</translation>
        </message>
        <message>
            <location filename="../../app/application.py"></location>
            <source>If it stays like that, end it with the system's task manager.</source>
            <translation>如果一直这样，请用系统的任务管理器将其结束。</translation>
        </message>
        <message>
            <location filename="../../app/application.py"></location>
            <source>It may be busy: wait a moment and try again.</source>
            <translation>它可能正忙：请稍等片刻再试。</translation>
        </message>
        <message>
            <location filename="../../app/application.py"></location>
            <source>Your chats are kept.</source>
            <translation>对话不会丢失。</translation>
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
            <source>Attachments</source>
            <translation>附件</translation>
        </message>
        <message>
            <location filename="../../app/attachments/controller.py"></location>
            <source>Find in this text</source>
            <translation>在此文本中查找</translation>
        </message>
        <message>
            <location filename="../../app/attachments/controller.py"></location>
            <source>Find</source>
            <translation>查找</translation>
        </message>
        <message>
            <location filename="../../app/attachments/controller.py"></location>
            <source>Copy</source>
            <translation>复制</translation>
        </message>
        <message>
            <location filename="../../app/attachments/controller.py"></location>
            <source>Copy the text</source>
            <translation>复制文本</translation>
        </message>
        <message>
            <location filename="../../app/attachments/controller.py"></location>
            <source>Text of {name}</source>
            <translation>{name} 的文本</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/attachments/controller.py"></location>
            <source>{count:,} tokens</source>
            <translation>
                <numerusform>{count:,} 词元</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/attachments/controller.py"></location>
            <source>the first {count:,} characters are shown; Copy takes all</source>
            <translation>显示前 {count:,} 个字符；复制会包含全部</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/attachments/controller.py"></location>
            <source>{count:,} places</source>
            <translation>
                <numerusform>{count:,} 处</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/attachments/controller.py"></location>
            <source>Not in this text.</source>
            <translation>此文本中没有。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/controller.py"></location>
            <source>Attach text, code or PDF files</source>
            <translation>添加文本、代码或 PDF 附件</translation>
        </message>
        <message>
            <location filename="../../app/attachments/controller.py"></location>
            <source>Pasted text {number}</source>
            <translation>粘贴的文本 {number}</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/attachments/controller.py"></location>
            <source>%n files were not attached.</source>
            <translation>
                <numerusform>有 %n 个文件未能附加。</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/attachments/controller.py"></location>
            <source>{file} was not attached: another chat was opened while it was read.</source>
            <translation>{file} 未附加：读取期间打开了另一个对话。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/controller.py"></location>
            <source>Attach it again where it belongs.</source>
            <translation>请在它所属的对话中重新附加。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>There is no text in {file}.</source>
            <translation>{file} 中没有文本。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>It may consist of pictures, and pictures are not read yet.</source>
            <translation>它可能只有图片，而图片暂时还不能读取。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>The file is empty.</source>
            <translation>文件为空。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>Underhill may not read {file}.</source>
            <translation>Underhill 没有读取 {file} 的权限。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>Make a copy of it that you may read, or give yourself the right to.</source>
            <translation>请另存一份你有权读取的副本，或为自己添加读取权限。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>{file} cannot be read.</source>
            <translation>无法读取 {file}。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>Check the file and its disk.</source>
            <translation>请检查该文件及其所在磁盘。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>{file} is not a text file.</source>
            <translation>{file} 不是文本文件。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>Text, code and PDF files can be attached.</source>
            <translation>可以添加文本、代码和 PDF 文件。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>{file} is locked with a password.</source>
            <translation>{file} 受密码保护。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>Save it without one, then attach it.</source>
            <translation>请另存为无密码的文件后再添加。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>Reading {file} takes too long.</source>
            <translation>读取 {file} 花的时间太长。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>Attach the pages that matter.</source>
            <translation>只附加重要的页面。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>Reading {file} takes too much memory.</source>
            <translation>读取 {file} 占用的内存太多。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>{file} cannot be read as a PDF.</source>
            <translation>无法将 {file} 作为 PDF 读取。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>Open it in a PDF viewer and copy the text that matters.</source>
            <translation>请在 PDF 阅读器中打开，并复制需要的文本。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>{file} is too large ({size:,.0f} MB).</source>
            <translation>{file} 太大（{size:,.0f} MB）。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>Attach the part that matters.</source>
            <translation>请只添加需要的部分。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>{file} is a picture, and pictures are not read yet.</source>
            <translation>{file} 是图片，图片暂时还不能读取。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>Text, code and PDF files can be attached; type what is to be seen in it.</source>
            <translation>可以附上文本、代码和 PDF 文件；图片中的内容可以用文字描述。</translation>
        </message>
        <message>
            <location filename="../../app/backend.py"></location>
            <source>Opening the model</source>
            <translation>正在打开模型</translation>
        </message>
        <message>
            <location filename="../../app/backend.py"></location>
            <source>Reading the model's files</source>
            <translation>正在读取模型文件</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Do not think</source>
            <translation>不思考</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Think very little</source>
            <translation>思考极少</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Think little</source>
            <translation>少思考</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Let the model decide</source>
            <translation>由模型决定</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Think a good while</source>
            <translation>适度思考</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Think</source>
            <translation>思考</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Think long</source>
            <translation>多思考</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Think very long</source>
            <translation>思考很久</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Think as long as it takes</source>
            <translation>充分思考</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Think before answering</source>
            <translation>回答前先思考</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Before answering: {choice}</source>
            <translation>回答前：{choice}</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Show or hide the list of chats</source>
            <translation>显示或隐藏对话列表</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>No model</source>
            <translation>没有模型</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Get and manage models…</source>
            <translation>获取和管理模型…</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Import a model folder…</source>
            <translation>导入模型文件夹…</translation>
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
            <source>Show or hide the live panel</source>
            <translation>显示或隐藏实时面板</translation>
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
            <source>Progress</source>
            <translation>进度</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Choose a model</source>
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
            <source>Answering</source>
            <translation>正在回答</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Ready</source>
            <translation>就绪</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Could not be opened</source>
            <translation>无法打开</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>The engine has stopped</source>
            <translation>引擎已停止</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>The variable HF_HUB_OFFLINE is set: nothing of Underhill uses the network. Click to see the setting.</source>
            <translation>已设置环境变量 HF_HUB_OFFLINE：Underhill 完全不使用网络。点击查看此设置。</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>“Stay offline” is on: nothing of Underhill uses the network. Click to see the setting.</source>
            <translation>“保持离线”已开启：Underhill 完全不使用网络。点击查看此设置。</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Offline: open the setting</source>
            <translation>离线：打开此设置</translation>
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
            <source>Server: {count}</source>
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
            <source>Programs can ask at {address}: {count}. Click to see them.</source>
            <translation>程序可以访问 {address}：{count}。点击查看。</translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Downloading {share}</source>
            <translation>正在下载 {share}</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/chat/header.py"></location>
            <source>%n models are on their way</source>
            <translation>
                <numerusform>%n 个模型正在下载</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/chat/header.py"></location>
            <source>Built-in model</source>
            <translation>内置模型</translation>
        </message>
        <message>
            <location filename="../../app/chat/running_answers.py"></location>
            <source>Stopping  ·  Esc again leaves it</source>
            <translation>正在停止  ·  再按 Esc 不再等待</translation>
        </message>
        <message>
            <location filename="../../app/chat/running_answers.py"></location>
            <source>Esc stops</source>
            <translation>按 Esc 停止</translation>
        </message>
        <message>
            <location filename="../../app/chat/running_answers.py"></location>
            <source>Waiting for the answer in another chat  ·  Esc stops</source>
            <translation>正在等待另一个对话的回答  ·  按 Esc 停止</translation>
        </message>
        <message>
            <location filename="../../app/chat/running_answers.py"></location>
            <source>Waiting for the model to open  ·  {waited}</source>
            <translation>等待模型打开  ·  {waited}</translation>
        </message>
        <message>
            <location filename="../../app/chat/running_answers.py"></location>
            <source>Reading your message: {share} % of {total} tokens, {reused} already known</source>
            <translation>正在读取你的消息：{total} 词元的 {share}%，其中 {reused} 词元无需重读</translation>
        </message>
        <message>
            <location filename="../../app/chat/running_answers.py"></location>
            <source>Reading your message: {share} % of {total} tokens</source>
            <translation>正在读取你的消息：{total} 词元的 {share}%</translation>
        </message>
        <message>
            <location filename="../../app/chat/running_answers.py"></location>
            <source>Waiting for the first word  ·  {waited}</source>
            <translation>正在等待第一个词  ·  {waited}</translation>
        </message>
        <message>
            <location filename="../../app/chat/running_answers.py"></location>
            <source>{rate} tok/s</source>
            <translation>{rate} 词元/秒</translation>
        </message>
        <message>
            <location filename="../../app/chat/running_answers.py"></location>
            <source>What could not be saved is kept while Underhill is open.</source>
            <translation>未能保存的内容在 Underhill 打开期间会保留。</translation>
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
            <source>Summarise the pros and cons of heat pumps in a table.</source>
            <translation>用表格总结热泵的优缺点。</translation>
        </message>
        <message>
            <location filename="../../app/chat/welcome.py"></location>
            <source>What would you like to talk about?</source>
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
            <location filename="../../app/composer.py"></location>
            <source>Context that is taken</source>
            <translation>已占用的上下文</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>{share} of context</source>
            <translation>上下文的 {share}</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>{times} times the context</source>
            <translation>上下文的 {times} 倍</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>{draft} tokens  ·  {taken}</source>
            <translation>{draft} 词元  ·  {taken}</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>This message is longer than the {context} tokens that the model sees at a time. Shorten it.</source>
            <translation>此消息超过了模型一次能读取的 {context} 词元。请缩短。</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Chat and message take {used} tokens; the model sees {context} at a time. The oldest turns will be left out; the system prompt stays.</source>
            <translation>对话和消息共占 {used} 词元，而模型一次能读取 {context} 词元。最早的几轮对话将被略去，系统提示词会保留。</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Chat and message take {used} of the {context} tokens that the model sees at a time.</source>
            <translation>模型一次能读取 {context} 词元，对话和消息占用了其中的 {used}。</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Leave the message as it was</source>
            <translation>保留原消息</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>You are editing an earlier message. Sending it starts a new version from there.</source>
            <translation>正在编辑之前的消息。发送后会从那里开始一个新版本。</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>You are editing an answer. Enter keeps it as a new version; nothing is asked of the model.</source>
            <translation>你正在编辑一条回答。按 Enter 会存为新版本，不会向模型提问。</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Drop the files here to attach them</source>
            <translation>将文件拖放到此处即可添加附件</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Messages that wait</source>
            <translation>等待发送的消息</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Take out</source>
            <translation>移除</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Remove</source>
            <translation>移除</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Message</source>
            <translation>消息</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Write a message</source>
            <translation>输入消息</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Send</source>
            <translation>发送</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Attach files</source>
            <translation>添加附件</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>System prompt and sampling of this chat</source>
            <translation>此对话的系统提示词与采样</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Press to see what the model reads of it.</source>
            <translation>点按可查看模型从中读到的内容。</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>{name}  ·  {count:,} tokens</source>
            <translation>{name}  ·  {count:,} 词元</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Stop</source>
            <translation>停止</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Sent when this answer has ended. Press to change it.</source>
            <translation>此回答结束后发送。点按可修改。</translation>
        </message>
        <message>
            <location filename="../../app/composer.py"></location>
            <source>Write the next message: it is sent when this answer has ended</source>
            <translation>输入下一条消息：此回答结束后发送</translation>
        </message>
        <message>
            <location filename="../../app/controllers/chat_controller.py"></location>
            <source>Shorten the message</source>
            <translation>缩短这条消息</translation>
        </message>
        <message>
            <location filename="../../app/controllers/chat_navigator.py"></location>
            <source>The chat that this was about is deleted.</source>
            <translation>与此有关的对话已被删除。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/chats_controller.py"></location>
            <source>“{title}” is now in the folder “{folder}”.</source>
            <translation>“{title}”已移到文件夹“{folder}”。</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/controllers/chats_controller.py"></location>
            <source>%n chats are now in “{folder}”.</source>
            <translation>
                <numerusform>%n 个对话已移到“{folder}”。</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/controllers/chats_controller.py"></location>
            <source>“{title}” is no longer in a folder.</source>
            <translation>“{title}”已移出文件夹。</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/controllers/chats_controller.py"></location>
            <source>%n chats are no longer in a folder.</source>
            <translation>
                <numerusform>%n 个对话已移出文件夹。</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/controllers/chats_controller.py"></location>
            <source>Undo</source>
            <translation>撤销</translation>
        </message>
        <message>
            <location filename="../../app/controllers/chats_controller.py"></location>
            <source>The folder “{folder}” was removed. Its chats are kept.</source>
            <translation>文件夹“{folder}”已移除，其中的对话保留。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/chats_controller.py"></location>
            <source>There was a folder “{folder}” already: the two are one now.</source>
            <translation>已有名为“{folder}”的文件夹：两者现已合并。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/chats_controller.py"></location>
            <source>New folder</source>
            <translation>新建文件夹</translation>
        </message>
        <message>
            <location filename="../../app/controllers/chats_controller.py"></location>
            <source>Name of the folder</source>
            <translation>文件夹名称</translation>
        </message>
        <message>
            <location filename="../../app/controllers/chats_controller.py"></location>
            <source>“{title}” was deleted.</source>
            <translation>已删除“{title}”。</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/controllers/chats_controller.py"></location>
            <source>%n chats were deleted.</source>
            <translation>
                <numerusform>已删除 %n 个对话。</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/controllers/chats_controller.py"></location>
            <source>New folder…</source>
            <translation>新建文件夹…</translation>
        </message>
        <message>
            <location filename="../../app/controllers/chats_controller.py"></location>
            <source>Recently deleted…</source>
            <translation>最近删除…</translation>
        </message>
        <message>
            <location filename="../../app/controllers/engine_controller.py"></location>
            <source>Write a message – it is answered once the model is open</source>
            <translation>输入消息——模型打开后就会回答</translation>
        </message>
        <message>
            <location filename="../../app/controllers/engine_controller.py"></location>
            <source>Choose a model above to begin</source>
            <translation>请先在上方选择模型</translation>
        </message>
        <message>
            <location filename="../../app/controllers/engine_controller.py"></location>
            <source>Opening the model. This takes a moment the first time.</source>
            <translation>正在打开模型。第一次打开需要一点时间。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/engine_controller.py"></location>
            <source>Choose a model at the top, or import one you have.</source>
            <translation>请在上方选择模型，或导入你已有的模型。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/engine_controller.py"></location>
            <source>{model} runs through the compatibility backend.</source>
            <translation>{model} 通过兼容后端运行。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/engine_controller.py"></location>
            <source>It works, but more slowly than families that Underhill knows itself.</source>
            <translation>可以使用，但比 Underhill 原生支持的模型系列慢。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/engine_controller.py"></location>
            <source>Open it</source>
            <translation>打开</translation>
        </message>
        <message>
            <location filename="../../app/controllers/engine_controller.py"></location>
            <source>{model} has been imported.</source>
            <translation>{model} 已导入。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/library_controller.py"></location>
            <source>The folder of the model</source>
            <translation>模型所在的文件夹</translation>
        </message>
        <message>
            <location filename="../../app/controllers/library_controller.py"></location>
            <source>The file of the model</source>
            <translation>模型文件</translation>
        </message>
        <message>
            <location filename="../../app/controllers/library_controller.py"></location>
            <source>GGUF models</source>
            <translation>GGUF 模型</translation>
        </message>
        <message>
            <location filename="../../app/controllers/library_controller.py"></location>
            <source>Another model is being imported. This one can follow when that has ended.</source>
            <translation>正在导入另一个模型，结束后才能导入这个。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/library_controller.py"></location>
            <source>{model} takes {saved} less. The original is in the trash.</source>
            <translation>{model} 少占用 {saved}。原模型在回收站中。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/library_controller.py"></location>
            <source>Choose another…</source>
            <translation>另选…</translation>
        </message>
        <message>
            <location filename="../../app/controllers/library_controller.py"></location>
            <source>{name} is in the trash.</source>
            <translation>{name} 已移到回收站。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/library_controller.py"></location>
            <source>{done} of {total}</source>
            <translation>{done} / {total}</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/controllers/library_controller.py"></location>
            <source>%n models are only partly here.</source>
            <translation>
                <numerusform>有 %n 个模型尚未下载完。</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/controllers/library_controller.py"></location>
            <source>{model} is only partly here: {so_far}.</source>
            <translation>{model} 尚未下载完：{so_far}。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/library_controller.py"></location>
            <source>The download was paused, or halted when Underhill was closed.</source>
            <translation>下载已暂停，或在关闭 Underhill 时中止。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/library_controller.py"></location>
            <source>Go on</source>
            <translation>继续</translation>
        </message>
        <message>
            <location filename="../../app/controllers/library_controller.py"></location>
            <source>Downloads</source>
            <translation>下载</translation>
        </message>
        <message>
            <location filename="../../app/controllers/message_editing.py"></location>
            <source>There is no question above this answer any more.</source>
            <translation>这条回答上方已没有问题。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/message_editing.py"></location>
            <source>The last answer was not cut, or holds nothing yet that could go on.</source>
            <translation>上一条回答并未中断，或者还没有可以继续的内容。</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/controllers/message_editing.py"></location>
            <source>This version and the %n messages after it were deleted.</source>
            <translation>
                <numerusform>已删除此版本及其后的 %n 条消息。</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/controllers/message_editing.py"></location>
            <source>The message was deleted.</source>
            <translation>已删除这条消息。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/message_editing.py"></location>
            <source>Let the answer end, or stop it with Esc; then this can be done.</source>
            <translation>等回答结束，或按 Esc 停止它，然后再操作。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/onboarding_controller.py"></location>
            <source>{model} has arrived.</source>
            <translation>{model} 已下载完成。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/onboarding_controller.py"></location>
            <source>{model} could not be fetched. {problem}</source>
            <translation>无法下载 {model}。{problem}</translation>
        </message>
        <message>
            <location filename="../../app/controllers/server_controller.py"></location>
            <source>Open the settings</source>
            <translation>打开设置</translation>
        </message>
        <message>
            <location filename="../../app/controllers/storage_controller.py"></location>
            <source>Open the folder</source>
            <translation>打开文件夹</translation>
        </message>
        <message>
            <location filename="../../app/controllers/storage_controller.py"></location>
            <source>Restore a backup…</source>
            <translation>从备份恢复…</translation>
        </message>
        <message>
            <location filename="../../app/controllers/storage_controller.py"></location>
            <source>Manage models</source>
            <translation>管理模型</translation>
        </message>
        <message>
            <location filename="../../app/controllers/storage_controller.py"></location>
            <source>Your chats are saved again.</source>
            <translation>对话已恢复保存。</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/controllers/storage_controller.py"></location>
            <source>%n chats are kept only while Underhill is open. Stay and export those you need.</source>
            <translation>
                <numerusform>%n 个对话只在 Underhill 打开期间保留。请留下并导出你需要的对话。</numerusform>
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
            <source>Back up all chats…</source>
            <translation>备份所有对话…</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Export chat</source>
            <translation>导出对话</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>The chat was written to {file}.</source>
            <translation>对话已导出到 {file}。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Export all chats</source>
            <translation>导出所有对话</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>%n chats were written to {file}.</source>
            <translation>
                <numerusform>已将 %n 个对话导出到 {file}。</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Import chats</source>
            <translation>导入对话</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>%n chats were imported from {file}.</source>
            <translation>
                <numerusform>已从 {file} 导入 %n 个对话。</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>%n more in it cannot be read.</source>
            <translation>
                <numerusform>其中另有 %n 个无法读取。</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Back up all chats</source>
            <translation>备份所有对话</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>All chats are backed up in {file}.</source>
            <translation>所有对话已备份到 {file}。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>An answer is being written.</source>
            <translation>正在生成回答。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Stop it, then restore the backup.</source>
            <translation>请先停止，再恢复备份。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Restore a backup</source>
            <translation>从备份恢复</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>The chats of {file} are back.</source>
            <translation>已从 {file} 恢复对话。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Those before it are kept as {file}.</source>
            <translation>恢复前的对话保存为 {file}。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>{file} is where Underhill keeps your chats.</source>
            <translation>{file} 是 Underhill 保存对话的地方。</translation>
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
            <source>Underhill may not use {file}.</source>
            <translation>Underhill 没有权限使用 {file}。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Choose another folder.</source>
            <translation>请选择其他文件夹。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>{file} could not be read or written.</source>
            <translation>无法读写 {file}。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/transfer_controller.py"></location>
            <source>Choose another file or folder.</source>
            <translation>请选择其他文件或文件夹。</translation>
        </message>
        <message>
            <location filename="../../app/controllers/tray.py"></location>
            <source>Show Underhill</source>
            <translation>显示 Underhill</translation>
        </message>
        <message>
            <location filename="../../app/controllers/tray.py"></location>
            <source>Quit</source>
            <translation>退出</translation>
        </message>
        <message>
            <location filename="../../app/controllers/tray.py"></location>
            <source>Your answer is there</source>
            <translation>回答已完成</translation>
        </message>
        <message>
            <location filename="../../app/controllers/tray.py"></location>
            <source>downloading, {share}</source>
            <translation>正在下载，{share}</translation>
        </message>
        <message>
            <location filename="../../app/controllers/tray.py"></location>
            <source>answering</source>
            <translation>正在回答</translation>
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
            <source>Chat offline with Mixture-of-Experts models bigger than your computer's memory.</source>
            <translation>离线与大于电脑内存的混合专家（MoE）模型对话。</translation>
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
            <source>Parts and their licences</source>
            <translation>组件及其许可证</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Made with</source>
            <translation>组件</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Version</source>
            <translation>版本</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Licence</source>
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
            <source>Not everything is saved.</source>
            <translation>有内容尚未保存。</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>What is not saved</source>
            <translation>未保存的内容</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Copy what is not saved</source>
            <translation>复制未保存的内容</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>This would be lost. Copy it, or stay and make room:</source>
            <translation>以下内容将会丢失。请复制它，或留下并腾出空间：</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Quit all the same</source>
            <translation>仍然退出</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Stay</source>
            <translation>留下</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Copied</source>
            <translation>已复制</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Recently deleted</source>
            <translation>最近删除</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Deleted chats</source>
            <translation>已删除的对话</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Restore</source>
            <translation>恢复</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Delete for good</source>
            <translation>永久删除</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Delete all for good</source>
            <translation>全部永久删除</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>Deleted chats are kept for {days} days, then removed for good.</source>
            <translation>已删除的对话会保留 {days} 天，之后永久删除。</translation>
        </message>
        <message>
            <location filename="../../app/dialogs.py"></location>
            <source>No chat has been deleted.</source>
            <translation>没有已删除的对话。</translation>
        </message>
        <message>
            <location filename="../../app/export/export_chats.py"></location>
            <source>Chat</source>
            <translation>对话</translation>
        </message>
        <message>
            <location filename="../../app/export/export_chats.py"></location>
            <source>System prompt</source>
            <translation>系统提示词</translation>
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
            <location filename="../../app/export/export_chats.py"></location>
            <source>Thought</source>
            <translation>思考过程</translation>
        </message>
        <message>
            <location filename="../../app/export/import_chats.py"></location>
            <source>[picture]</source>
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
            <source>A chat in {file} is too long to be read.</source>
            <translation>{file} 中有一个对话太长，无法读取。</translation>
        </message>
        <message>
            <location filename="../../app/export/import_chats.py"></location>
            <source>Export fewer chats at a time, or leave that chat out.</source>
            <translation>每次导出少一些对话，或不导出那个对话。</translation>
        </message>
        <message>
            <location filename="../../app/export/import_chats.py"></location>
            <source>{file} holds no chats that Underhill can read.</source>
            <translation>{file} 中没有 Underhill 能读取的对话。</translation>
        </message>
        <message>
            <location filename="../../app/export/import_chats.py"></location>
            <source>Choose a JSON file that Underhill has written, or the export of ChatGPT (conversations.json or its ZIP).</source>
            <translation>请选择由 Underhill 导出的 JSON 文件，或 ChatGPT 的导出文件（conversations.json 或其 ZIP 压缩包）。</translation>
        </message>
        <message>
            <location filename="../../app/i18n/languages.py"></location>
            <source>dd MMMM yyyy, HH:mm</source>
            <comment>a date and time, in the letters of Qt's QLocale</comment>
            <translation>yyyy年M月d日 HH:mm</translation>
        </message>
        <message>
            <location filename="../../app/i18n/languages.py"></location>
            <source>dd MMMM</source>
            <comment>a date, in the letters of Qt's QLocale</comment>
            <translation>M月d日</translation>
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
            <location filename="../../app/library/dialogs.py"></location>
            <source>16 bits – as it is</source>
            <translation>16 位：原始精度</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>8 bits – practically the original</source>
            <translation>8 位：与原模型几乎无异</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>4 bits – nearly as good, half the size</source>
            <translation>4 位：效果接近，体积减半</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>2 bits – small, and noticeably less exact</source>
            <translation>2 位：体积小，精度明显下降</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>4 bits – just as they come</source>
            <translation>4 位，与下载的完全相同</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>0.5 %</source>
            <translation>0.5%</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>1 %</source>
            <translation>1%</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>2 % – usual</source>
            <translation>2%（常用）</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>5 % – smallest</source>
            <translation>5%（最小）</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Automatic – 8 bits, or 4 where the model was stored with about 4</source>
            <translation>自动：8 位；若模型本来就以约 4 位保存，则为 4 位</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>4 bits – nearly as good, half the size of 8 bits</source>
            <translation>4 位——效果接近，大小为 8 位的一半</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>16 bits – as it is; for small models</source>
            <translation>16 位——保持原样；适合小模型</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Get</source>
            <translation>获取</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>takes {size}</source>
            <translation>占用 {size}</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Look at it</source>
            <translation>查看</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>{size} to fetch</source>
            <translation>需下载 {size}</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>The original, unquantized</source>
            <translation>未量化的原始模型</translation>
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
            <source>Open its page</source>
            <translation>打开网页</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>reads up to {tokens:,} tokens</source>
            <translation>最多可读取 {tokens:,} 词元</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>{experts} experts in each of {layers} layers, {active} at a time</source>
            <translation>共 {layers} 层，每层 {experts} 个专家，每次激活 {active} 个</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Make smaller</source>
            <translation>缩小模型</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Make {model} smaller</source>
            <translation>缩小 {model}</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Experts that matter least keep 2 or 4 bits. The model takes less memory and answers faster; its answers change slightly. How much is measured first. That can take a while, and chat waits meanwhile.</source>
            <translation>影响最小的专家只保留 2 位或 4 位。模型占用的内存更少，回答更快，但回答会略有变化。先测量变化有多大，这可能需要一些时间，期间对话会等待。</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Most quality loss</source>
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
            <source>Stopped</source>
            <translation>已停止</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>No expert can have fewer bits within this loss. Allow more.</source>
            <translation>在此损失上限内，没有专家可以降低位数。可放宽上限。</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Experts take {after} instead of {before}.</source>
            <translation>专家占用 {after}，原来为 {before}。</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Bits: {shares}</source>
            <translation>位数：{shares}</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Change: {change}, measured on {tokens} tokens</source>
            <translation>变化：{change}，在 {tokens} 个词元上测得</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Needs {needed} on the disk, {free} free. The original goes to the trash.</source>
            <translation>需要 {needed} 磁盘空间，剩余 {free}。原模型会移到回收站。</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Other weights: {bits}-bit, {after} instead of {before} in memory</source>
            <translation>其他权重：{bits} 位，内存占用 {after}，原来为 {before}</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Import a model</source>
            <translation>导入模型</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Makes a converted copy; the original stays. It can take a while. You can keep chatting.</source>
            <translation>生成转换后的副本，原文件不变。可能需要一些时间，期间可以继续对话。</translation>
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
            <source>Most quality loss: {loss}</source>
            <translation>质量损失上限：{loss}</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>No</source>
            <translation>不缩小</translation>
        </message>
        <message>
            <location filename="../../app/library/dialogs.py"></location>
            <source>Experts that matter least keep 2 or 4 bits. Measured once the model is there.</source>
            <translation>影响最小的专家只保留 2 位或 4 位。导入完成后开始测量。</translation>
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
            <source>There is a model of this name already.</source>
            <translation>已有同名的模型。</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Models to get</source>
            <translation>可获取的模型</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Search the hub, for instance “qwen3”</source>
            <translation>搜索模型站，例如“qwen3”</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Search the hub for models</source>
            <translation>在模型站搜索模型</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Only what fits</source>
            <translation>只看适合本机的</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Show more</source>
            <translation>显示更多</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Looking…</source>
            <translation>正在搜索…</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/library/discover.py"></location>
            <source>%n found on the hub</source>
            <translation>
                <numerusform>在模型站找到 %n 个</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>The catalogue is on its way.</source>
            <translation>正在加载模型目录。</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>The catalogue is empty.</source>
            <translation>模型目录为空。</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Models that people run today, those that suit this computer first. Nothing is sent until you search or get one.</source>
            <translation>当下常用的模型，适合这台电脑的排在前面。在你搜索或获取模型之前，不会发送任何数据。</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>None of these fits this computer.</source>
            <translation>其中没有适合这台电脑的模型。</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Nothing that Underhill opens was found for “{words}”. Only Mixture-of-Experts models are shown.</source>
            <translation>没有找到与“{words}”相符且 Underhill 能打开的模型。这里只显示混合专家（MoE）模型。</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Details</source>
            <translation>详情</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Open</source>
            <translation>打开</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Models of other apps</source>
            <translation>其他应用的模型</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Look</source>
            <translation>查找</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Look again</source>
            <translation>重新查找</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/library/discover.py"></location>
            <source>%n so far</source>
            <translation>
                <numerusform>已找到 %n 个</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>What Hugging Face's cache, LM Studio and Ollama keep here can be imported without fetching it again.</source>
            <translation>Hugging Face 缓存、LM Studio 和 Ollama 已保存在本机的模型可以直接导入，无需重新下载。</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>No Mixture-of-Experts model of another app was found on this computer.</source>
            <translation>没有在这台电脑上找到其他应用的混合专家模型。</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Import…</source>
            <translation>导入…</translation>
        </message>
        <message>
            <location filename="../../app/library/entries.py"></location>
            <source>{pill}: {reason}</source>
            <translation>{pill}：{reason}</translation>
        </message>
        <message>
            <location filename="../../app/library/entries.py"></location>
            <source>{deed}: {title}</source>
            <translation>{deed}：{title}</translation>
        </message>
        <message>
            <location filename="../../app/library/entries.py"></location>
            <source>Import a folder…</source>
            <translation>导入文件夹…</translation>
        </message>
        <message>
            <location filename="../../app/library/entries.py"></location>
            <source>Import a GGUF file…</source>
            <translation>导入 GGUF 文件…</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Your models</source>
            <translation>我的模型</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>The list of models is on its way.</source>
            <translation>正在加载模型列表。</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>In use</source>
            <translation>使用中</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Check every byte</source>
            <translation>完整校验</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Move to another folder…</source>
            <translation>移动到其他文件夹…</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Show in files</source>
            <translation>在文件管理器中显示</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Delete</source>
            <translation>删除</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Restore original</source>
            <translation>恢复原模型</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Make smaller…</source>
            <translation>缩小模型…</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Move</source>
            <translation>移动</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Move {model} to</source>
            <translation>将 {model} 移动到</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Where they live</source>
            <translation>存放位置</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Add a folder…</source>
            <translation>添加文件夹…</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Deleted</source>
            <translation>已删除</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Empty the trash</source>
            <translation>清空回收站</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>New models go here</source>
            <translation>新模型放在这里</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Take out of the library</source>
            <translation>从模型库移除</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>new models go here</source>
            <translation>新模型保存在此</translation>
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
            <source>{free} of {total} free</source>
            <translation>可用 {free}，共 {total}</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>How full the disk of {folder} is</source>
            <translation>{folder} 所在磁盘的使用情况</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>kept until {date}</source>
            <translation>保留至 {date}</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Bring back</source>
            <translation>恢复</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>Empty the trash?</source>
            <translation>清空回收站？</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>The deleted models are removed for good, which frees {amount}.</source>
            <translation>已删除的模型将被永久移除，可释放 {amount}。</translation>
        </message>
        <message>
            <location filename="../../app/library/installed.py"></location>
            <source>A folder for models</source>
            <translation>模型文件夹</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>Fits</source>
            <translation>适合</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>Slow</source>
            <translation>较慢</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>Too big</source>
            <translation>过大</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>Waiting for its turn</source>
            <translation>正在排队</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>On its way</source>
            <translation>下载中</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>Paused</source>
            <translation>已暂停</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>Here</source>
            <translation>已完成</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>{total} parameters</source>
            <translation>{total} 参数</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>{total} parameters, {active} of them active</source>
            <translation>{total} 参数，其中激活 {active}</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>experts at {bits} bits</source>
            <translation>专家精度 {bits} 位</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>other weights: {bits}-bit</source>
            <translation>其他权重：{bits} 位</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>experts: {shares}</source>
            <translation>专家：{shares}</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>{size} on the disk</source>
            <translation>占用磁盘 {size}</translation>
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
            <source>KL {kl} from full precision</source>
            <translation>与最高精度相比 KL {kl}</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>licence {licence}</source>
            <translation>许可证 {licence}</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>asks for an account</source>
            <translation>需要登录账号</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>{size} to fetch as {form} instead of {whole}</source>
            <translation>需下载 {size}（{form}），而不是 {whole}</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>kept by {app}</source>
            <translation>来自 {app}</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>{size}/s</source>
            <translation>{size}/s</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>Recommended: the quickest of those that run well here.</source>
            <translation>推荐：在这台电脑上运行良好的模型中最快的一个。</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>Recommended: the largest that answers here as fast as one reads.</source>
            <translation>推荐：在这台电脑上回答速度跟得上阅读的模型中最大的一个。</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>Smaller and quicker.</source>
            <translation>更小、更快。</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>Larger, and slower.</source>
            <translation>更大，但更慢。</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>None of the {known} models that Underhill recommends runs well here; the built-in one does.</source>
            <translation>Underhill 推荐的 {known} 个模型都不适合这台电脑；内置模型可以正常运行。</translation>
        </message>
        <message>
            <location filename="../../app/library/model_text.py"></location>
            <source>{fit} of the {known} models that Underhill recommends run well here.</source>
            <translation>Underhill 推荐的 {known} 个模型中，有 {fit} 个能在这台电脑上良好运行。</translation>
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
            <source>Nothing is on its way. Models are under “Get models”.</source>
            <translation>没有正在下载的模型。可在“获取模型”中查找模型。</translation>
        </message>
        <message>
            <location filename="../../app/library/page.py"></location>
            <source>Pause</source>
            <translation>暂停</translation>
        </message>
        <message>
            <location filename="../../app/library/page.py"></location>
            <source>Dismiss</source>
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
            <source>The {amount} that have arrived are removed.</source>
            <translation>已下载的 {amount} 将被删除。</translation>
        </message>
        <message>
            <location filename="../../app/library/page.py"></location>
            <source>Cancel the download</source>
            <translation>取消下载</translation>
        </message>
        <message>
            <location filename="../../app/library/page.py"></location>
            <source>Models</source>
            <translation>模型</translation>
        </message>
        <message>
            <location filename="../../app/library/page.py"></location>
            <source>Back to the chat</source>
            <translation>返回对话</translation>
        </message>
        <message>
            <location filename="../../app/library/page.py"></location>
            <source>Get models</source>
            <translation>获取模型</translation>
        </message>
        <message>
            <location filename="../../app/library/page.py"></location>
            <source>In other apps</source>
            <translation>其他应用</translation>
        </message>
        <message>
            <location filename="../../app/library/page.py"></location>
            <source>Downloads ({count})</source>
            <translation>下载（{count}）</translation>
        </message>
        <message>
            <location filename="../../app/library/view_model.py"></location>
            <source>Looking</source>
            <translation>正在查找</translation>
        </message>
        <message>
            <location filename="../../app/library/view_model.py"></location>
            <source>Checking {model}</source>
            <translation>正在校验 {model}</translation>
        </message>
        <message>
            <location filename="../../app/library/view_model.py"></location>
            <source>Moving {model}</source>
            <translation>正在移动 {model}</translation>
        </message>
        <message>
            <location filename="../../app/library/view_model.py"></location>
            <source>Making {model} smaller</source>
            <translation>正在缩小 {model}</translation>
        </message>
        <message>
            <location filename="../../app/library/view_model.py"></location>
            <source>Restoring {model}</source>
            <translation>正在恢复 {model}</translation>
        </message>
        <message>
            <location filename="../../app/library/view_model.py"></location>
            <source>{model} is as it was.</source>
            <translation>{model} 已恢复原样。</translation>
        </message>
        <message>
            <location filename="../../app/library/view_model.py"></location>
            <source>Importing {model}</source>
            <translation>正在导入 {model}</translation>
        </message>
        <message>
            <location filename="../../app/library/view_model.py"></location>
            <source>Waiting</source>
            <translation>正在等待</translation>
        </message>
        <message>
            <location filename="../../app/library/view_model.py"></location>
            <source>{model} is damaged.</source>
            <translation>{model} 已损坏。</translation>
        </message>
        <message>
            <location filename="../../app/library/view_model.py"></location>
            <source>{model} is whole: every byte is as it was when it was made.</source>
            <translation>{model} 完好无损：每个字节都与制作时一致。</translation>
        </message>
        <message>
            <location filename="../../app/library/view_model.py"></location>
            <source>{model} is in {folder} now.</source>
            <translation>{model} 现位于 {folder}。</translation>
        </message>
        <message>
            <location filename="../../app/library/view_model.py"></location>
            <source>{name} is back.</source>
            <translation>{name} 已恢复。</translation>
        </message>
        <message>
            <location filename="../../app/library/view_model.py"></location>
            <source>{model} is here.</source>
            <translation>{model} 已下载完成。</translation>
        </message>
        <message>
            <location filename="../../app/local_server.py"></location>
            <source>This one holds until you close Underhill.</source>
            <translation>这个密钥在你关闭 Underhill 之前有效。</translation>
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
            <source>Underhill ended unexpectedly the last time.</source>
            <translation>Underhill 上次意外退出。</translation>
        </message>
        <message>
            <location filename="../../app/main.py"></location>
            <source>Your chats are safe. What was going on then is kept in {file}.</source>
            <translation>你的对话没有丢失。当时的情况记录在 {file}。</translation>
        </message>
        <message>
            <location filename="../../app/main.py"></location>
            <source>The engine ended unexpectedly the last time.</source>
            <translation>引擎上次意外结束。</translation>
        </message>
        <message>
            <location filename="../../app/main.py"></location>
            <source>What is known of it is kept in {file}.</source>
            <translation>已知的情况保存在 {file} 中。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Underhill runs large chat models on this computer, also models that are bigger than its memory.</source>
            <translation>Underhill 在这台电脑上运行大型对话模型，包括比内存还大的模型。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Everything stays here: your chats, your files, and what is measured. Nothing is sent until you search for a model or fetch one.</source>
            <translation>一切都留在本机：你的对话、文件和测量结果。在你搜索或下载模型之前，不会发送任何内容。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>A small model is built in, so you can begin at once. The next two pages find one that suits this computer better.</source>
            <translation>内置了一个小模型，可以立即开始。接下来的两页会为这台电脑找到更合适的模型。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Look at this computer</source>
            <translation>查看这台电脑</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Start chatting</source>
            <translation>开始对话</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>What is sent, and when</source>
            <translation>何时会发送什么</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>This computer</source>
            <translation>这台电脑</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Underhill measures how fast memory, disk and processor are, to say which models will run well.</source>
            <translation>Underhill 会测量内存、磁盘和处理器的速度，以判断哪些模型能良好运行。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>That takes some 15 seconds, once, and stays here. You need not wait for it.</source>
            <translation>只需测量一次，大约 15 秒，结果留在本机。你不必等待。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>How far the measurement is</source>
            <translation>测量进度</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Measure again</source>
            <translation>重新测量</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Show the figures</source>
            <translation>显示数据</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Hide the figures</source>
            <translation>收起数据</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>An answer is being written; the measurement goes on after it.</source>
            <translation>正在生成回答；测量会在之后继续。</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/onboarding.py"></location>
            <source>{name} with %n cores.</source>
            <translation>
                <numerusform>{name}，%n 个核心。</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>It runs on its battery, where it may be slower.</source>
            <translation>正在使用电池，速度可能较慢。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>{limit} of memory, of which {free} are free now.</source>
            <translation>内存 {limit}，目前可用 {free}。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>What fits into that runs fastest.</source>
            <translation>能放进可用内存的模型运行最快。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Graphics card: {name} with {size}. Underhill computes on it beside the processor where that is faster.</source>
            <translation>显卡：{name}，{size}。在更快的情况下，Underhill 会让它与处理器一起计算。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>{free} are free on the disk.</source>
            <translation>磁盘剩余 {free}。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>{amount} a second</source>
            <translation>每秒 {amount}</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>It is fast ({speed}): models much bigger than the memory can run from it.</source>
            <translation>磁盘很快（{speed}）：比内存大得多的模型也可以从磁盘运行。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>It is quick enough ({speed}) for models that are somewhat bigger than the memory.</source>
            <translation>磁盘速度足够（{speed}），可以运行比内存略大的模型。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>It is slow ({speed}): choose models that fit into memory.</source>
            <translation>磁盘较慢（{speed}）：选择能放进内存的模型。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>A model for this computer</source>
            <translation>适合这台电脑的模型</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Open that setting</source>
            <translation>打开此设置</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Do you have a model already? Underhill can make its own copy of it, without a network.</source>
            <translation>已经有模型了？Underhill 无需联网就能为它制作自己的副本。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Underhill stays offline and fetches nothing. The built-in model works, as does one you bring.</source>
            <translation>Underhill 保持离线，不会下载任何内容。内置模型和你自己的模型都可以使用。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Underhill looks which models suit this computer. The built-in one can be used at once.</source>
            <translation>Underhill 正在查找适合这台电脑的模型。内置模型可以立即使用。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>None of the models in Underhill's list suits this computer as it is now. The built-in one does.</source>
            <translation>Underhill 列表中的模型都不适合这台电脑目前的状态。内置模型适合。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Fetching one takes a while; meanwhile, and without a network, the built-in model is there.</source>
            <translation>下载模型需要一些时间；在此期间或没有网络时，可以使用内置模型。</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Chat with it</source>
            <translation>开始对话</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Get it</source>
            <translation>下载</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>{amount} to fetch, {time}</source>
            <translation>需下载 {amount}，{time}</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>{amount} on the disk</source>
            <translation>占用磁盘 {amount}</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>it is here already</source>
            <translation>已在本机</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Back</source>
            <translation>上一步</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>Skip the tour</source>
            <translation>跳过引导</translation>
        </message>
        <message>
            <location filename="../../app/onboarding.py"></location>
            <source>{number} of {count}</source>
            <translation>第 {number} 步，共 {count} 步</translation>
        </message>
        <message>
            <location filename="../../app/platform/files.py"></location>
            <source>{file} is not a file but a device or a pipe.</source>
            <translation>{file} 不是文件，而是设备或管道。</translation>
        </message>
        <message>
            <location filename="../../app/platform/files.py"></location>
            <source>Choose another file.</source>
            <translation>请选择其他文件。</translation>
        </message>
        <message>
            <location filename="../../app/platform/files.py"></location>
            <source>The path of {file} is too long for this system.</source>
            <translation>{file} 的路径对这个系统来说太长。</translation>
        </message>
        <message>
            <location filename="../../app/platform/files.py"></location>
            <source>Move the file to a folder nearer the top, or give it a shorter name.</source>
            <translation>把文件移到层级更浅的文件夹，或改成更短的名称。</translation>
        </message>
        <message>
            <location filename="../../app/platform/files.py"></location>
            <source>{file} is a folder.</source>
            <translation>{file} 是文件夹。</translation>
        </message>
        <message>
            <location filename="../../app/platform/files.py"></location>
            <source>Choose the files in it that matter.</source>
            <translation>请选择其中需要的文件。</translation>
        </message>
        <message>
            <location filename="../../app/platform/files.py"></location>
            <source>{file} is not there any more.</source>
            <translation>{file} 已不存在。</translation>
        </message>
        <message>
            <location filename="../../app/platform/files.py"></location>
            <source>Underhill opens links to the web and to mail addresses only, not {link}</source>
            <translation>Underhill 只打开网页和邮件地址的链接，不打开 {link}</translation>
        </message>
        <message>
            <location filename="../../app/platform/files.py"></location>
            <source>This computer has no program that opens {link}</source>
            <translation>这台电脑上没有能打开 {link} 的程序</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Answers</source>
            <translation>回答</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>How words are chosen. In force from the next answer on.</source>
            <translation>如何选择用词。从下一个回答起生效。</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Speed and precision</source>
            <translation>速度与精度</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>What runs how exactly, and where it waits.</source>
            <translation>哪些部分以多高的精度运行，以及存放在哪里。</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Memory</source>
            <translation>内存</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>How much of this computer Underhill may use.</source>
            <translation>Underhill 可以使用这台电脑的多少资源。</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Search settings</source>
            <translation>搜索设置</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Pages of settings</source>
            <translation>设置页面</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Advanced</source>
            <translation>高级</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Show the settings that few people need, too</source>
            <translation>同时显示很少用到的设置</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>No setting is called that.</source>
            <translation>没有找到这样的设置。</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>For all models</source>
            <translation>适用于所有模型</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Which models these settings are for</source>
            <translation>这些设置适用于哪些模型</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Some changes take effect when the model is loaded again.</source>
            <translation>部分更改在重新加载模型后生效。</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Load it again now</source>
            <translation>立即重新加载</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Reset all…</source>
            <translation>全部重置…</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>threshold t1 t2 scores distribution picture</source>
            <comment>words of the search</comment>
            <translation>阈值 t1 t2 分数 分布 图 threshold</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>memory cache ceiling free room bar</source>
            <comment>words of the search</comment>
            <translation>内存 缓存 上限 空闲 memory</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Only for {model}</source>
            <translation>仅适用于 {model}</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>{name}: {value}</source>
            <translation>{name}：{value}</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Models with a value of their own:</source>
            <translation>有自己的值的模型：</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>For all models: {value}</source>
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
            <source>All settings, those for single models too, go back to what they were at first. Chats and models stay.</source>
            <translation>所有设置（包括针对单个模型的设置）都将恢复为初始值。对话和模型会保留。</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Reset all</source>
            <translation>全部重置</translation>
        </message>
        <message>
            <location filename="../../app/settings/editor.py"></location>
            <source>Takes effect when the model is loaded again.</source>
            <translation>重新加载模型后生效。</translation>
        </message>
        <message>
            <location filename="../../app/settings/editor.py"></location>
            <source>Show those settings</source>
            <translation>显示那些设置</translation>
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
            <source>Does nothing unless {setting} is {value}.</source>
            <translation>只有当“{setting}”为“{value}”时才起作用。</translation>
        </message>
        <message>
            <location filename="../../app/settings/editor.py"></location>
            <source>Automatic</source>
            <translation>自动</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Appearance</source>
            <translation>外观</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>How Underhill looks.</source>
            <translation>Underhill 的外观。</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Like the system</source>
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
            <source>{number:.0f} %</source>
            <translation>{number:.0f}%</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Theme</source>
            <translation>主题</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Size of text</source>
            <translation>文字大小</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Language</source>
            <translation>语言</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>theme appearance dark light system colours</source>
            <comment>words of the search</comment>
            <translation>主题 外观 深色 浅色 跟随系统 颜色 theme dark light</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>size of text font appearance larger smaller</source>
            <comment>words of the search</comment>
            <translation>文字大小 字号 字体 放大 缩小 font size</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Takes effect when Underhill is started again.</source>
            <translation>重新启动 Underhill 后生效。</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Start it again now</source>
            <translation>立即重新启动</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Access token</source>
            <translation>访问令牌</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Asking the keyring…</source>
            <translation>正在查询密钥环…</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Paste a token</source>
            <translation>粘贴令牌</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Keep</source>
            <translation>保存</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Forget</source>
            <translation>删除</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Forget the access token</source>
            <translation>删除访问令牌</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>There is one for {hub}, in the system's keyring.</source>
            <translation>系统密钥环中存有 {hub} 的令牌。</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>The one in the variable HF_TOKEN is used; it goes before the keyring.</source>
            <translation>正在使用环境变量 HF_TOKEN 中的令牌；它优先于密钥环。</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>There is none for {hub}. Models whose licence has to be accepted need one.</source>
            <translation>没有 {hub} 的令牌。需要先接受许可协议的模型必须有令牌才能下载。</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Trying it…</source>
            <translation>正在验证…</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Model folders</source>
            <translation>模型文件夹</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Models live in these folders, on as many disks as you like; new ones go into the first. Taking a folder out leaves what is in it on the disk.</source>
            <translation>模型存放在这些文件夹中，可以分布在任意多个磁盘上；新模型放入第一个文件夹。移除文件夹不会删除磁盘上的内容。</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>{amount} free</source>
            <translation>{amount} 可用</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>not connected</source>
            <translation>未连接</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Network and folders</source>
            <translation>网络与文件夹</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Where models come from, and where they live.</source>
            <translation>模型从哪里来，存放在哪里。</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>access token hub keyring licence gated network</source>
            <comment>words of the search</comment>
            <translation>访问 令牌 模型站 密钥环 许可 网络 token hub</translation>
        </message>
        <message>
            <location filename="../../app/settings/pages.py"></location>
            <source>Check for updates when Underhill starts</source>
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
            <location filename="../../app/settings/preferences.py"></location>
            <source>Your preferences could not be read, so the usual ones are used ({error}).</source>
            <translation>无法读取你的偏好设置，已改用默认设置（{error}）。</translation>
        </message>
        <message>
            <location filename="../../app/settings/preferences.py"></location>
            <source>Your settings were saved by a newer version of Underhill.</source>
            <translation>你的设置由更新版本的 Underhill 保存。</translation>
        </message>
        <message>
            <location filename="../../app/settings/preferences.py"></location>
            <source>Install that version again to change them. They are untouched.</source>
            <translation>重新安装那个版本即可更改。它们未被改动。</translation>
        </message>
        <message>
            <location filename="../../app/settings/preferences.py"></location>
            <source>Your settings cannot be saved.</source>
            <translation>无法保存你的设置。</translation>
        </message>
        <message>
            <location filename="../../app/settings/preferences.py"></location>
            <source>They hold until you close Underhill.</source>
            <translation>这些设置在关闭 Underhill 之前有效。</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>at full precision</source>
            <translation>全精度</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>coarse</source>
            <translation>粗略</translation>
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
            <source>unimportant</source>
            <translation>不重要</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>Open a model to see its scores.</source>
            <translation>打开一个模型即可查看其分数。</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>This model's scores are shown once they are measured, which Underhill does while nobody asks.</source>
            <translation>此模型的分数测量完成后会显示在这里；Underhill 会在空闲时测量。</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>This model was measured before its scores were kept. To see them, have it measured again: {command}</source>
            <translation>测量此模型时还没有保存分数。要查看分数，请重新测量：{command}</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>Under Exact every expert runs at full precision.</source>
            <translation>在“精确”模式下，所有专家都以全精度运行。</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>Of what has to be fetched from disk:</source>
            <translation>需要从磁盘读取的专家中：</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>With T2 at {value}, T1 is {value} too: it is never above T2.</source>
            <translation>T2 为 {value} 时，T1 也为 {value}：T1 从不高于 T2。</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>With T1 at {value}, T2 is {value} too: it is never below T1.</source>
            <translation>T1 为 {value} 时，T2 也为 {value}：T2 从不低于 T1。</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Reading the prompt</source>
            <translation>读取提示词</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Answered</source>
            <translation>已回答</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Failed</source>
            <translation>失败</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Address for programs</source>
            <translation>供程序使用的地址</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Programs for Ollama or Anthropic take it without /v1. Where no key is set, a program that insists on one can be given any text.</source>
            <translation>面向 Ollama 或 Anthropic 的程序使用不带 /v1 的地址。未设密钥时，坚持要密钥的程序可以填任意文字。</translation>
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
            <source>Remove the key</source>
            <translation>移除密钥</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>The key is in the system's keyring, which is asked…</source>
            <translation>密钥在系统密钥环中，正在读取…</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>Programs have to show this key. A new one shuts out those that show the old.</source>
            <translation>程序必须出示此密钥。换新密钥后，旧密钥不再有效。</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>No key is needed: any program on this computer can ask.</source>
            <translation>无需密钥：这台电脑上的任何程序都可以访问。</translation>
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
            <source>Other programs, such as editors and agents, can ask the models through the APIs of OpenAI, Ollama and Anthropic.</source>
            <translation>编辑器、智能体等其他程序可以通过 OpenAI、Ollama 和 Anthropic 的 API 使用模型。</translation>
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
            <source>Starting…</source>
            <translation>正在启动…</translation>
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
            <source>On. Programs on this computer and in your network can ask.</source>
            <translation>已开启。这台电脑和你的网络中的程序可以访问。</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>On. Programs on this computer can ask.</source>
            <translation>已开启。这台电脑上的程序可以访问。</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>A model that is not open is opened when a program asks for it.</source>
            <translation>程序请求未打开的模型时，会自动打开它。</translation>
        </message>
        <message>
            <location filename="../../app/settings/server_page.py"></location>
            <source>{client}, model {model}, {path}</source>
            <translation>{client}，模型 {model}，{path}</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/settings/server_page.py"></location>
            <source>%n tokens</source>
            <translation>
                <numerusform>%n 词元</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Presets</source>
            <translation>预设</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Save as…</source>
            <translation>另存为…</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Rename…</source>
            <translation>重命名…</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Rename the preset</source>
            <translation>重命名该预设</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Delete the preset</source>
            <translation>删除预设</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Preset</source>
            <translation>预设</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>What the model is told before the chat, such as: Answer in one sentence.</source>
            <translation>对话开始前告诉模型的话，例如：用一句话回答。</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Texts that end an answer, one a line</source>
            <translation>停止词（每行一个，回答遇到时即结束）</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>\n stands for the end of a line.</source>
            <translation>\n 表示换行。</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>As the settings say</source>
            <translation>沿用设置</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Use in this chat</source>
            <translation>用于此对话</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>None</source>
            <translation>无</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Name of the preset</source>
            <translation>预设名称</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Rename preset</source>
            <translation>重命名预设</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Another preset has this name already. Name of the preset</source>
            <translation>已有同名的预设。预设名称</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Save preset</source>
            <translation>保存预设</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Put this in the place of the preset {name}?</source>
            <translation>用它替换预设“{name}”吗？</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>What it holds now is lost. Chats that use it stay as they are.</source>
            <translation>其现有内容将丢失。使用它的对话保持不变。</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Replace it</source>
            <translation>替换</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Delete the preset {name}?</source>
            <translation>删除预设“{name}”吗？</translation>
        </message>
        <message>
            <location filename="../../app/settings/style_dialog.py"></location>
            <source>Chats that use it stay as they are.</source>
            <translation>使用它的对话保持不变。</translation>
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
            <source>A package arrived damaged.</source>
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
            <source>Another Underhill is installing the engine.</source>
            <translation>另一个 Underhill 正在安装引擎。</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>Wait for it, then try again.</source>
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
            <source>Resume</source>
            <translation>继续</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>Paused. What was downloaded is kept.</source>
            <translation>已暂停。已下载的内容会保留。</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>Package mirror (address)</source>
            <translation>软件包镜像（地址）</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>Torch builds (address or folder)</source>
            <translation>Torch 安装包（地址或文件夹）</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>Proxy (address)</source>
            <translation>代理（地址）</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>As the system says</source>
            <translation>跟随系统</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>Offline packages (folder)</source>
            <translation>离线软件包（文件夹）</translation>
        </message>
        <message>
            <location filename="../../app/setup/page.py"></location>
            <source>Choose…</source>
            <translation>选择…</translation>
        </message>
        <message>
            <location filename="../../app/setup/updates.py"></location>
            <source>Underhill has heard of no update since {month}.</source>
            <translation>自 {month}以来，Underhill 没有收到任何更新消息。</translation>
        </message>
        <message>
            <location filename="../../app/setup/updates.py"></location>
            <source>Updates may be held back on the way. Look for a newer version where you got this one.</source>
            <translation>更新可能在途中被拦截。请到你获取此版本的地方查看是否有新版本。</translation>
        </message>
        <message>
            <location filename="../../app/setup/updates.py"></location>
            <source>Underhill {version} is available ({size}).</source>
            <translation>Underhill {version} 可用（{size}）。</translation>
        </message>
        <message>
            <location filename="../../app/setup/updates.py"></location>
            <source>Download</source>
            <translation>下载</translation>
        </message>
        <message>
            <location filename="../../app/setup/updates.py"></location>
            <source>It is used from the next start.</source>
            <translation>下次启动时使用。</translation>
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
            <source>This version stays as it is.</source>
            <translation>当前版本不受影响。</translation>
        </message>
        <message>
            <location filename="../../app/shell.py"></location>
            <source>Start the engine again</source>
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
            <source>The latest {most} messages</source>
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
            <source>Last seven days</source>
            <translation>过去七天</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/chat_model.py"></location>
            <source>an answer is being written</source>
            <translation>正在生成回答</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/chat_model.py"></location>
            <source>a new answer is there</source>
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
            <source>Folders, import, export and backup</source>
            <translation>文件夹、导入、导出与备份</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/sidebar.py"></location>
            <source>Search all messages</source>
            <translation>搜索所有消息</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/sidebar.py"></location>
            <source>Your chats will be listed here.</source>
            <translation>你的对话会列在这里。</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/sidebar.py"></location>
            <source>No chat has that.</source>
            <translation>没有找到匹配的对话。</translation>
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
            <source>Move to folder</source>
            <translation>移到文件夹</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/sidebar.py"></location>
            <source>Rename</source>
            <translation>重命名</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/sidebar.py"></location>
            <source>Remove folder, keep its chats</source>
            <translation>移除文件夹，保留其中的对话</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/sidebar.py"></location>
            <source>Unpin</source>
            <translation>取消置顶</translation>
        </message>
        <message>
            <location filename="../../app/sidebar/sidebar.py"></location>
            <source>Pin to the top</source>
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
            <source>Out of its folder</source>
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
            <location filename="../../app/storage/backup.py"></location>
            <source>{file} is damaged.</source>
            <translation>{file} 已损坏。</translation>
        </message>
        <message>
            <location filename="../../app/storage/backup.py"></location>
            <source>Choose another file. Your chats are as they were.</source>
            <translation>请选择其他文件。你的对话没有改动。</translation>
        </message>
        <message>
            <location filename="../../app/storage/backup.py"></location>
            <source>Install a newer version, then restore it there. Your chats are as they were.</source>
            <translation>请安装更新的版本后再恢复。你的对话没有改动。</translation>
        </message>
        <message>
            <location filename="../../app/storage/backup.py"></location>
            <source>{file} is no backup of Underhill's chats, or it is damaged.</source>
            <translation>{file} 不是 Underhill 的对话备份，或已损坏。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>Your chats were saved by a newer version of Underhill.</source>
            <translation>你的对话由更新版本的 Underhill 保存。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>Install that version again to see them. They are untouched.</source>
            <translation>重新安装该版本即可查看。这些对话没有改动。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>The file that holds your chats is damaged.</source>
            <translation>保存对话的文件已损坏。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>Another program is holding the file that keeps your chats.</source>
            <translation>其他程序正占用保存对话的文件。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>Close other Underhill windows or backup programs, then try again.</source>
            <translation>请关闭其他 Underhill 窗口或备份程序，然后重试。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>The disk is full, so your chats cannot be saved.</source>
            <translation>磁盘已满，无法保存你的对话。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>Underhill may not write to {folder}.</source>
            <translation>Underhill 没有权限写入 {folder}。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>Check the permissions of that folder, then start Underhill again.</source>
            <translation>请检查该文件夹的权限，然后重新启动 Underhill。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>Something went wrong inside Underhill, and a change to your chats was not made.</source>
            <translation>Underhill 内部出了问题，对对话的一项更改未能完成。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>Try again; if it happens again, please report the details.</source>
            <translation>请重试；如果再次发生，请报告详细信息。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>Your chats cannot be saved.</source>
            <translation>无法保存你的对话。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>Check the folder {folder}.</source>
            <translation>请检查文件夹 {folder}。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>The file that holds your chats is damaged. Underhill has started a new one.</source>
            <translation>保存对话的文件已损坏。Underhill 已新建一个。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>The damaged file is kept as {file}; a backup of yours can be put in its place.</source>
            <translation>损坏的文件已保存为 {file}；可以用你的备份替换它。</translation>
        </message>
        <message>
            <location filename="../../app/storage/database_thread.py"></location>
            <source>Until then, chats are not saved.</source>
            <translation>在此之前，对话不会被保存。</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/charts.py"></location>
            <source>experts</source>
            <translation>专家</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/charts.py"></location>
            <source>room for experts</source>
            <translation>留给专家的空间</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/charts.py"></location>
            <source>Underhill itself</source>
            <translation>Underhill 自身</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/charts.py"></location>
            <source>other weights</source>
            <translation>其他权重</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/charts.py"></location>
            <source>context</source>
            <translation>上下文</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/charts.py"></location>
            <source>for computing</source>
            <translation>计算用</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/charts.py"></location>
            <source>kept for context and computing</source>
            <translation>为上下文和计算保留</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/charts.py"></location>
            <source>not needed</source>
            <translation>未使用</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/charts.py"></location>
            <source>Where the memory under the ceiling goes</source>
            <translation>上限内的内存用在哪里</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/charts.py"></location>
            <source>Experts in graphics memory</source>
            <translation>显存中的专家</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/charts.py"></location>
            <source>Known once a model is open.</source>
            <translation>打开模型后显示。</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/charts.py"></location>
            <source>Graphics memory: {part} of {whole} of experts</source>
            <translation>显存：专家 {part}，共 {whole}</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/docks.py"></location>
            <source>Live</source>
            <translation>实时</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/docks.py"></location>
            <source>Experts</source>
            <translation>专家</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/docks.py"></location>
            <source>{title} panel</source>
            <translation>“{title}”面板</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/docks.py"></location>
            <source>{title}: a window of its own, or back</source>
            <translation>{title}：分离为独立窗口，或放回</translation>
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
            <source>Uses since it was opened</source>
            <translation>打开以来的使用次数</translation>
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
            <source>Where it lies</source>
            <translation>存放位置</translation>
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
            <source>in graphics memory</source>
            <translation>在显存中</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>Close what is said of this expert</source>
            <translation>关闭此专家的详情</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>Layer {layer}, expert {expert}</source>
            <translation>第 {layer} 层，专家 {expert}</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>{bits} bits, {place}</source>
            <translation>{bits} 位，{place}</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>nothing; it lies on the disk</source>
            <translation>无，位于磁盘上</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>{held}; being read at {bits} bits</source>
            <translation>{held}；正在以 {bits} 位读取</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>{last} last, {mean} on average</source>
            <translation>最近 {last}，平均 {mean}</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>Used</source>
            <translation>使用</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>{answer:,} in this answer, {uses:,} since opened</source>
            <translation>此回答中 {answer:,} 次，打开以来 {uses:,} 次</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>Ran coarse</source>
            <translation>粗略运行</translation>
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
            <source>Held</source>
            <translation>驻留</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>Bytes</source>
            <translation>字节</translation>
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
            <source>{count:,} times, {share:.0f} % of its uses</source>
            <translation>{count:,} 次，占其使用的 {share:.0f}%</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>What the colours mean</source>
            <translation>颜色的含义</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>A row for each layer, a column for each expert. Click one to see more of it.</source>
            <translation>每行一层，每列一个专家。点击某个专家可查看详情。</translation>
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
            <source>now and then</source>
            <translation>偶尔</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>often</source>
            <translation>经常</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>{place} at {bits} bits</source>
            <translation>{place}，{bits} 位</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>{times} in this answer</source>
            <translation>此回答中{times}</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/experts_panel.py"></location>
            <source>{times} since the model was opened</source>
            <translation>模型打开以来{times}</translation>
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
            <source>Waiting for a model</source>
            <translation>等待模型</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>read ahead in time</source>
            <translation>预取及时</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>read ahead, but late</source>
            <translation>预取过晚</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>fetched on demand</source>
            <translation>按需读取</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Nothing is running.</source>
            <translation>当前没有运行。</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Why this speed</source>
            <translation>速度说明</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>{rate} tokens/s</source>
            <translation>{rate} 词元/秒</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Share of the time spent waiting for the disk, over the last half minute</source>
            <translation>最近半分钟等待磁盘的时间占比</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Tokens per second over the last half minute</source>
            <translation>最近半分钟的每秒词元数</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Prompt tokens per second over the last half minute</source>
            <translation>最近半分钟每秒读取的提示词词元数</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Disk reads over the last half minute</source>
            <translation>最近半分钟的磁盘读取</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Tokens per second</source>
            <translation>每秒词元数</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Read from disk</source>
            <translation>磁盘读取</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Waiting for the disk</source>
            <translation>等待磁盘</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Cache hits and misses over the last half minute</source>
            <translation>最近半分钟的缓存命中与未命中</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>What reads ahead</source>
            <translation>预取依据</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Precision of expert uses over the last half minute</source>
            <translation>最近半分钟使用专家的精度</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Requests for experts</source>
            <translation>专家请求</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Precision of expert uses</source>
            <translation>专家使用的精度</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Answering.</source>
            <translation>正在回答。</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Underhill takes {amount} of {ceiling} that it may take.</source>
            <translation>Underhill 占用 {amount}，上限为 {ceiling}。</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>Underhill takes {amount}.</source>
            <translation>Underhill 占用 {amount}。</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>The graphics card computed {share} of them, the processor the rest; {rate}/s crossed to the card.</source>
            <translation>其中 {share} 由显卡计算，其余由处理器计算；每秒有 {rate} 传到显卡。</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>No expert was asked for yet.</source>
            <translation>还没有请求过专家。</translation>
        </message>
        <message>
            <location filename="../../app/telemetry/figures_panel.py"></location>
            <source>under 1 %</source>
            <translation>不到 1%</translation>
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
            <location filename="../../app/transcript/details.py"></location>
            <source>How this answer was made</source>
            <translation>这条回答是如何生成的</translation>
        </message>
        <message>
            <location filename="../../app/transcript/details.py"></location>
            <source>Copy the figures</source>
            <translation>复制数据</translation>
        </message>
        <message>
            <location filename="../../app/transcript/details.py"></location>
            <source>As a table (.csv) or as a picture (.png)</source>
            <translation>保存为表格（.csv）或图片（.png）</translation>
        </message>
        <message>
            <location filename="../../app/transcript/details.py"></location>
            <source>Save…</source>
            <translation>保存…</translation>
        </message>
        <message>
            <location filename="../../app/transcript/details.py"></location>
            <source>Save the figures</source>
            <translation>保存数据</translation>
        </message>
        <message>
            <location filename="../../app/transcript/details.py"></location>
            <source>the picture could not be written</source>
            <translation>图片无法写入</translation>
        </message>
        <message>
            <location filename="../../app/transcript/details.py"></location>
            <source>{file} could not be saved: {error}. Choose another folder.</source>
            <translation>无法保存 {file}：{error}。请选择其他文件夹。</translation>
        </message>
        <message>
            <location filename="../../app/transcript/details.py"></location>
            <source>Table (*.csv);;Picture (*.png)</source>
            <translation>表格 (*.csv);;图片 (*.png)</translation>
        </message>
        <message>
            <location filename="../../app/transcript/item.py"></location>
            <source>Thinking for {time}</source>
            <translation>已思考 {time}…</translation>
        </message>
        <message>
            <location filename="../../app/transcript/item.py"></location>
            <source>Thought for {time}</source>
            <translation>思考了 {time}</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>The answer reached the longest length that is set.</source>
            <translation>回答已达到设定的最大长度。</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>The context is full: the model cannot read or write any more in this chat.</source>
            <translation>上下文已满：模型无法在此对话中继续读写。</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>You stopped this answer.</source>
            <translation>你已停止这条回答。</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>You stopped this answer. Something in the engine did not let go of it, so the engine was ended and is started again. What the answer had said is kept.</source>
            <translation>您停止了这个回答。引擎中有操作不肯放开它，因此引擎已被终止并重新启动。回答已说出的内容都已保留。</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>The answer broke off because of an error.</source>
            <translation>回答因出错而中断。</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>A request is one layer asking for one expert: once for each token of an answer, but only once for a whole stretch of the prompt, however many of its tokens use that expert.</source>
            <translation>一次请求是指某一层需要某个专家：生成回答时，每个词元请求一次；读取提示时，一整段只请求一次，无论其中有多少词元使用该专家。</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>A use is one token that goes through one expert. Many tokens of a prompt share one request, so that there are more uses than requests.</source>
            <translation>一次使用是指一个词元经过一个专家。提示中的许多词元共用一次请求，因此使用次数多于请求次数。</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>The model reads from here on: what is above did not fit into the context.</source>
            <translation>模型从这里开始读取：以上内容超出了上下文。</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/transcript/notes.py"></location>
            <source>The context is full: %n older turns were left out of what the model read.</source>
            <translation>
                <numerusform>上下文已满：模型没有读取最早的 %n 轮对话。</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>, </source>
            <comment>between the names of a list</comment>
            <translation>、</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>This answer was cut off when Underhill closed.</source>
            <translation>Underhill 关闭时，这条回答被中断。</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>You have edited this answer.</source>
            <translation>你编辑过这条回答。</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>first word after {time}</source>
            <translation>首字：{time}</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>{percent} % cache hits</source>
            <translation>缓存命中 {percent}%</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Model</source>
            <translation>模型</translation>
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
            <source>Speed</source>
            <translation>速度</translation>
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
            <source>{count:,} tokens, {reused:,} of them known already</source>
            <translation>{count:,} 词元，其中 {reused:,} 个已处理过</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Time to the first token</source>
            <translation>首个词元耗时</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Prompt speed</source>
            <translation>提示词处理速度</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>{hits:,} of {uses:,} ({percent} %)</source>
            <translation>{hits:,} / {uses:,}（{percent}%）</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Requests met from memory</source>
            <translation>专家请求（内存命中）</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Expert uses skipped</source>
            <translation>专家使用（跳过）</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Expert uses at {bits} bits</source>
            <translation>专家使用（{bits} 位）</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>{uses:,} ({percent} %)</source>
            <translation>{uses:,}（{percent}%）</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Most memory taken</source>
            <translation>内存峰值</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>{percent} % at {bits} bits</source>
            <translation>{bits} 位占 {percent}%</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>less than 0.1 s</source>
            <translation>不到 0.1 秒</translation>
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
            <source>Version before</source>
            <translation>上一个版本</translation>
        </message>
        <message>
            <location filename="../../app/transcript/page.py"></location>
            <source>Version after</source>
            <translation>下一个版本</translation>
        </message>
        <message>
            <location filename="../../app/transcript/page.py"></location>
            <source>Show the thought</source>
            <translation>显示思考过程</translation>
        </message>
        <message>
            <location filename="../../app/transcript/page.py"></location>
            <source>Go on from its end</source>
            <translation>从末尾继续</translation>
        </message>
        <message>
            <location filename="../../app/transcript/page.py"></location>
            <source>Read what is attached</source>
            <translation>阅读附件</translation>
        </message>
        <message>
            <location filename="../../app/transcript/page.py"></location>
            <source>Copy message</source>
            <translation>复制消息</translation>
        </message>
        <message>
            <location filename="../../app/transcript/page.py"></location>
            <source>Edit and send again</source>
            <translation>编辑并重新发送</translation>
        </message>
        <message>
            <location filename="../../app/transcript/page.py"></location>
            <source>Answer again</source>
            <translation>重新回答</translation>
        </message>
        <message>
            <location filename="../../app/transcript/page.py"></location>
            <source>New chat from here</source>
            <translation>从此处新建对话</translation>
        </message>
        <message>
            <location filename="../../app/transcript/page.py"></location>
            <source>Delete message</source>
            <translation>删除消息</translation>
        </message>
        <message>
            <location filename="../../app/transcript/page.py"></location>
            <source>Hide the thought</source>
            <translation>隐藏思考过程</translation>
        </message>
        <message>
            <location filename="../../app/transcript/page.py"></location>
            <source>Edit this answer</source>
            <translation>编辑此回答</translation>
        </message>
        <message>
            <location filename="../../app/transcript/page.py"></location>
            <source>Go to the end</source>
            <translation>转到末尾</translation>
        </message>
        <message>
            <location filename="../../app/transcript/paint.py"></location>
            <source>Tool call</source>
            <translation>工具调用</translation>
        </message>
        <message>
            <location filename="../../app/transcript/paint.py"></location>
            <source>A later thought</source>
            <translation>后续思考</translation>
        </message>
        <message>
            <location filename="../../app/transcript/paint.py"></location>
            <source>text</source>
            <comment>code in no known language</comment>
            <translation>文本</translation>
        </message>
        <message>
            <location filename="../../app/transcript/view.py"></location>
            <source>You: {text}</source>
            <translation>你：{text}</translation>
        </message>
        <message>
            <location filename="../../app/transcript/view.py"></location>
            <source>Answer: {text}</source>
            <translation>回答：{text}</translation>
        </message>
        <message>
            <location filename="../../app/transcript/view.py"></location>
            <source>Copy the address of the link</source>
            <translation>复制链接地址</translation>
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
            <location filename="../../app/widgets/builders.py"></location>
            <source>Keep it</source>
            <translation>保留</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Next chat in the list</source>
            <translation>列表中的下一个对话</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Chat before it in the list</source>
            <translation>列表中的上一个对话</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Find in this chat</source>
            <translation>在此对话中查找</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Take back the last deletion</source>
            <translation>撤销上一次删除</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Rename the chosen chat</source>
            <translation>重命名所选对话</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Move the chosen chats to a folder</source>
            <translation>把所选对话移到文件夹</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Delete the chosen chats</source>
            <translation>删除所选对话</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Send the message</source>
            <translation>发送消息</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>New line</source>
            <translation>换行</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Stop the answer (again: no longer wait for it), leave off editing, go back to the chat</source>
            <translation>停止回答（再按一次：不再等待）、放弃编辑、返回对话</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Answer the last question again</source>
            <translation>重新回答上一个问题</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Have a cut answer go on</source>
            <translation>让中断的回答继续</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Edit the last message (in an empty message box)</source>
            <translation>编辑上一条消息（输入框为空时）</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Copy the last answer</source>
            <translation>复制上一个回答</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Message before, message after (in the conversation)</source>
            <translation>上一条、下一条消息（在对话中）</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Show or hide the thought (in the conversation)</source>
            <translation>显示或隐藏思考（在对话中）</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>How the answer was made (in the conversation)</source>
            <translation>查看回答是怎样生成的（在对话中）</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Window</source>
            <translation>窗口</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Get and manage models</source>
            <translation>获取和管理模型</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Next part of the window</source>
            <translation>窗口的下一部分</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>This list</source>
            <translation>本列表</translation>
        </message>
        <message>
            <location filename="../../app/widgets/keyboard.py"></location>
            <source>Close Underhill</source>
            <translation>关闭 Underhill</translation>
        </message>
        <message>
            <location filename="../../app/widgets/messages.py"></location>
            <source>Dismiss</source>
            <translation>关闭提示</translation>
        </message>
        <message>
            <location filename="../../app/widgets/search_field.py"></location>
            <source>Clear the search</source>
            <translation>清除搜索内容</translation>
        </message>
        <message>
            <location filename="../../app/widgets/search_field.py"></location>
            <source>Search</source>
            <translation>搜索</translation>
        </message>
        <message>
            <location filename="../../app/widgets/search_field.py"></location>
            <source>Place before</source>
            <translation>上一处</translation>
        </message>
        <message>
            <location filename="../../app/widgets/search_field.py"></location>
            <source>Place after</source>
            <translation>下一处</translation>
        </message>
        <message>
            <location filename="../../app/widgets/search_field.py"></location>
            <source>Close the search</source>
            <translation>关闭查找</translation>
        </message>
        <message>
            <location filename="../../app/widgets/search_field.py"></location>
            <source>Not in this chat.</source>
            <translation>此对话中没有。</translation>
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
            <source>about a minute left</source>
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
            <source>T1 and T2 are those published for Mixtral until this model's own have been found.</source>
            <translation>在找到此模型自己的 T1 和 T2 之前，使用为 Mixtral 发表的数值。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/calibrator.py"></location>
            <source>Calibrating</source>
            <translation>正在校准</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/evaluate.py"></location>
            <source>There is no file {file}.</source>
            <translation>没有文件 {file}。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/evaluate.py"></location>
            <source>Check the path.</source>
            <translation>请检查路径。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/evaluate.py"></location>
            <source>{file} cannot be read as text.</source>
            <translation>{file} 无法作为文本读取。</translation>
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
            <source>Measuring its precision dials ({share} %).</source>
            <translation>正在测量它的精度档位（{share} %）。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/idle_tasks.py"></location>
            <source>Its precision dials could not be measured: {sentence}</source>
            <translation>无法测量它的精度档位：{sentence}</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/idle_tasks.py"></location>
            <source>Teaching the gates of coming layers ({share} %).</source>
            <translation>正在教后续层的门控（{share} %）。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/idle_tasks.py"></location>
            <source>The gates of coming layers could not be taught: {sentence}</source>
            <translation>无法教后续层的门控：{sentence}</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/idle_tasks.py"></location>
            <source>Learning which experts tokens use, and which follow which ({share} %).</source>
            <translation>正在学习词元使用哪些专家、哪些专家相继出现（{share} %）。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/idle_tasks.py"></location>
            <source>Which experts tokens use could not be learnt: {sentence}</source>
            <translation>无法学习词元使用哪些专家：{sentence}</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/idle_tasks.py"></location>
            <source>Fitting to its routing which experts stay in memory ({share} %).</source>
            <translation>正在按它的路由拟合哪些专家留在内存（{share} %）。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/idle_tasks.py"></location>
            <source>Which experts stay in memory could not be fitted to its routing: {sentence}</source>
            <translation>无法按它的路由拟合哪些专家留在内存：{sentence}</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/idle_tasks.py"></location>
            <source>Measuring this computer ({total} %).</source>
            <translation>正在为这台电脑测速（{total} %）。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/lowering_search.py"></location>
            <source>A tolerance of {tolerance} % is not possible.</source>
            <translation>损失上限不能设为 {tolerance}%。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/lowering_search.py"></location>
            <source>Choose one from {least} % to {most} %.</source>
            <translation>可选范围为 {least}% 到 {most}%。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/lowering_search.py"></location>
            <source>Holding other weights at {bits} bits</source>
            <translation>以 {bits} 位保存其他权重</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/lowering_search.py"></location>
            <source>Experts of {name} have fewer bits already.</source>
            <translation>{name} 的专家已经降低过位数。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/lowering_search.py"></location>
            <source>Restore the original first, or import the model again.</source>
            <translation>先恢复原模型，或重新导入该模型。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/lowering_search.py"></location>
            <source>Experts of {name} are not stored with 4 or 8 bits.</source>
            <translation>{name} 的专家不是以 4 位或 8 位存储的。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/lowering_search.py"></location>
            <source>Import the model again with a precision of 4 or 8 bits.</source>
            <translation>以 4 位或 8 位精度重新导入该模型。</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/robustness.py"></location>
            <source>Comparing experts with their 2 bits</source>
            <translation>正在比较专家与其 2 位版本</translation>
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
            <source>Finding how few bits all experts can have</source>
            <translation>正在确定所有专家最少可用几位</translation>
        </message>
        <message>
            <location filename="../../engine/calibration/robustness.py"></location>
            <source>Finding how many may be lowered</source>
            <translation>正在确定可以降低多少专家</translation>
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
            <source>Noting what the source files are</source>
            <translation>正在记录源文件的信息</translation>
        </message>
        <message>
            <location filename="../../engine/convert/importer.py"></location>
            <source>The import was stopped.</source>
            <translation>导入已停止。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/importer.py"></location>
            <source>Import again to continue it.</source>
            <translation>再次导入即可继续。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/importer.py"></location>
            <source>Reading the model's outline</source>
            <translation>正在读取模型概要</translation>
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
            <source>Copying the other weights</source>
            <translation>正在复制其他权重</translation>
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
            <source>{key} is stored as {dtype}, which Underhill does not read.</source>
            <translation>{key} 以 {dtype} 保存，Underhill 不能读取。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/pieces.py"></location>
            <source>Get the model in its original precision.</source>
            <translation>请获取原始精度的模型。</translation>
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
            <source>The config.json of this {config} model does not fit together.</source>
            <translation>这个 {config} 模型的 config.json 前后矛盾。</translation>
        </message>
        <message>
            <location filename="../../engine/convert/skeleton.py"></location>
            <source>Download it again; if that does not help, the model needs another version of Underhill.</source>
            <translation>请重新下载；如果没有用，这个模型需要其他版本的 Underhill。</translation>
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
            <source>Models of the family {model_type} cannot be opened: {reason}.</source>
            <translation>无法打开 {model_type} 系列的模型：{reason}。</translation>
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
            <source>Update the driver, or set the mode to cpu.</source>
            <translation>请更新驱动程序，或将模式设为 cpu。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>No driver of an NVIDIA graphics card was found.</source>
            <translation>没有找到 NVIDIA 显卡的驱动程序。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>Install NVIDIA's driver, or set the mode to cpu.</source>
            <translation>请安装 NVIDIA 的驱动程序，或将模式设为 cpu。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>The driver of the graphics card is too old: it has no {function}.</source>
            <translation>显卡驱动程序太旧：缺少 {function}。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>The graphics card has no memory left for this.</source>
            <translation>显卡没有足够的显存。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>Close other programs that use the card, or set the mode to cpu.</source>
            <translation>请关闭其他使用显卡的程序，或将模式设为 cpu。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>The driver of the graphics card is too old for Underhill's kernels.</source>
            <translation>显卡驱动程序太旧，无法运行 Underhill 的内核。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>The driver of the graphics card was updated and is not in use yet.</source>
            <translation>显卡驱动程序已更新，但尚未启用。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>Restart the computer.</source>
            <translation>请重新启动电脑。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>The driver could not make Underhill's kernels ready for this card.</source>
            <translation>驱动程序无法为此显卡准备 Underhill 的内核。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>The graphics card cannot be used now: another program has it for itself.</source>
            <translation>现在无法使用显卡：它被另一个程序独占。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>Close that program, or set the mode to cpu.</source>
            <translation>请关闭该程序，或将模式设为 cpu。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>The graphics card has stopped working for Underhill ({code}).</source>
            <translation>显卡已停止为 Underhill 工作（{code}）。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>Load the model again. If it happens again, update the driver or restart the computer.</source>
            <translation>请重新加载模型。如果再次发生，请更新驱动程序或重新启动电脑。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/errors.py"></location>
            <source>The driver of the graphics card refused: {function} returned {code}.</source>
            <translation>显卡驱动程序拒绝了请求：{function} 返回 {code}。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/linears.py"></location>
            <source>The graphics card {name} computes something other than the processor: shared weights differ by {worst}.</source>
            <translation>显卡 {name} 的计算结果与处理器不同：共享权重相差 {worst}。</translation>
        </message>
        <message>
            <location filename="../../engine/cuda/linears.py"></location>
            <source>Update the graphics driver, or set the mode to cpu.</source>
            <translation>请更新显卡驱动程序，或把模式设为 cpu。</translation>
        </message>
        <message>
            <location filename="../../engine/errors.py"></location>
            <source>The checkpoint is damaged; download it again.</source>
            <translation>检查点已损坏；请重新下载。</translation>
        </message>
        <message>
            <location filename="../../engine/errors.py"></location>
            <source>Something went wrong inside Underhill.</source>
            <translation>Underhill 内部出了问题。</translation>
        </message>
        <message>
            <location filename="../../engine/errors.py"></location>
            <source>Your chat is safe. Try again; if it happens again, please report the details.</source>
            <translation>你的对话是安全的。请重试；如果再次发生，请报告详细信息。</translation>
        </message>
        <message>
            <location filename="../../engine/errors.py"></location>
            <source>There was not enough memory for this.</source>
            <translation>内存不足，无法完成此操作。</translation>
        </message>
        <message>
            <location filename="../../engine/errors.py"></location>
            <source>Close other programs or lower the expert cache.</source>
            <translation>请关闭其他程序，或调小专家缓存。</translation>
        </message>
        <message>
            <location filename="../../engine/errors.py"></location>
            <source>The disk is full.</source>
            <translation>磁盘已满。</translation>
        </message>
        <message>
            <location filename="../../engine/errors.py"></location>
            <source>Free some space and try again.</source>
            <translation>请腾出一些空间后重试。</translation>
        </message>
        <message>
            <location filename="../../engine/errors.py"></location>
            <source>The disk refused: {strerror} ({filename}).</source>
            <translation>磁盘拒绝了操作：{strerror}（{filename}）。</translation>
        </message>
        <message>
            <location filename="../../engine/errors.py"></location>
            <source>The disk refused: {strerror}.</source>
            <translation>磁盘拒绝了操作：{strerror}。</translation>
        </message>
        <message>
            <location filename="../../engine/errors.py"></location>
            <source>Check that the disk is connected and that you may write there.</source>
            <translation>请检查磁盘是否已连接，以及你是否有权在那里写入。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/cache/expert_cache.py"></location>
            <source>There is no memory left for experts.</source>
            <translation>没有内存可以留给专家了。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/cache/expert_cache.py"></location>
            <source>Lower the expert cache or close other programs.</source>
            <translation>请调小专家缓存，或关闭其他程序。</translation>
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
            <source>The experts of this model are not quantized, so the graphics card has no kernels for them.</source>
            <translation>此模型的专家未量化，显卡没有对应的内核。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/card_mode.py"></location>
            <source>Import the model with quantized experts.</source>
            <translation>请用量化的专家重新导入模型。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/card_mode.py"></location>
            <source>The graphics card {name} is too old to compute experts.</source>
            <translation>显卡 {name} 太旧，无法计算专家。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/card_mode.py"></location>
            <source>Set the mode to cpu.</source>
            <translation>请将模式设为 cpu。</translation>
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
            <source>The graphics card {name} computes something other than the processor: {tier}-bit experts differ by {worst}.</source>
            <translation>显卡 {name} 的计算结果与处理器不同：{tier} 位专家相差 {worst}。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/execution/card_proof.py"></location>
            <source>Please report this with the name of the card; the processor computes until then.</source>
            <translation>请连同显卡名称一起报告此问题；在此之前由处理器计算。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/loading/pending.py"></location>
            <source>The expert cache is held by something else.</source>
            <translation>专家缓存正被其他任务占用。</translation>
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
            <translation>此模型没有 {tier} 位的专家。</translation>
        </message>
        <message>
            <location filename="../../engine/experts/runtime.py"></location>
            <source>It holds {stored} bits.</source>
            <translation>它有 {stored} 位的专家。</translation>
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
            <source>{path} holds its weights as {other}; Underhill reads safetensors only.</source>
            <translation>{path} 的权重以 {other} 格式保存；Underhill 只能读取 safetensors。</translation>
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
            <source>Get the model in another file.</source>
            <translation>请获取该模型的其他文件。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/errors.py"></location>
            <source>Get the model in safetensors format.</source>
            <translation>请获取 safetensors 格式的模型。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/errors.py"></location>
            <source>{path} cannot be read ({strerror}).</source>
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
            <source>Download the model again, or the rest of it.</source>
            <translation>请重新下载模型，或补全其余文件。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/errors.py"></location>
            <source>The checkpoint lacks the tensor {name}.</source>
            <translation>检查点缺少张量 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/errors.py"></location>
            <source>Download the model again.</source>
            <translation>请重新下载模型。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/families.py"></location>
            <source>This {kind} model is dense, not a Mixture-of-Experts model: it has no routed experts.</source>
            <translation>这个 {kind} 模型是稠密模型，不是混合专家模型：它没有路由专家。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/families.py"></location>
            <source>Underhill runs Mixture-of-Experts models; choose one of those.</source>
            <translation>Underhill 运行的是混合专家（MoE）模型；请选择其中之一。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/families.py"></location>
            <source>This model is already quantized ({method}), in a way that Underhill does not read.</source>
            <translation>此模型已经量化过（{method}），Underhill 不能读取这种方式。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/families.py"></location>
            <source>Get the model in its original precision, as GGUF, or quantized by GPTQ or AWQ.</source>
            <translation>改用此模型的原始精度版本、GGUF 版本，或由 GPTQ、AWQ 量化的版本。</translation>
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
            <source>{name} is GGUF version {version}, which Underhill does not read.</source>
            <translation>{name} 是第 {version} 版 GGUF，Underhill 不能读取。</translation>
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
            <source>{name} in {name2} is stored as {type_name}, which Underhill does not read.</source>
            <translation>{name2} 中的 {name} 以 {type_name} 存储，Underhill 不能读取。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_header.py"></location>
            <source>Get the model in another quantization, such as Q4_K_M or Q8_0.</source>
            <translation>改用此模型的其他量化版本，例如 Q4_K_M 或 Q8_0。</translation>
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
            <source>{name} is stored as {name2}, which Underhill does not read.</source>
            <translation>{name} 以 {name2} 保存，Underhill 不能读取。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_rows.py"></location>
            <source>Get the model in another quantization.</source>
            <translation>请获取该模型的其他量化版本。</translation>
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
            <source>This GGUF file holds a {name} model, which Underhill does not open from GGUF.</source>
            <translation>这个 GGUF 文件是 {name} 模型，Underhill 不能从 GGUF 打开它。</translation>
        </message>
        <message>
            <location filename="../../engine/formats/gguf_source.py"></location>
            <source>Get the model in safetensors format, or one of these: {architectures}.</source>
            <translation>请获取 safetensors 格式的模型，或以下之一：{architectures}。</translation>
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
            <source>This model is already quantized ({name} {how}), in a way that Underhill does not read.</source>
            <translation>此模型已经量化过（{name} {how}），Underhill 不能读取这种方式。</translation>
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
            <source>{name} of the model cannot be read.</source>
            <translation>无法读取模型的 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/chat.py"></location>
            <source>Import it again.</source>
            <translation>请重新导入。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/chat.py"></location>
            <source>There is nothing to answer.</source>
            <translation>没有可回答的内容。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/chat.py"></location>
            <source>Write a message first.</source>
            <translation>请先写一条消息。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/chat.py"></location>
            <source>This message takes {ids} tokens, and the model sees {context} at a time.</source>
            <translation>这条消息有 {ids} 个词元，而模型一次只能看到 {context} 个。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/chat.py"></location>
            <source>Shorten it, or raise the context length in the settings if the model allows.</source>
            <translation>请缩短消息；如果模型允许，也可以在设置中调大上下文长度。</translation>
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
            <location filename="../../engine/generation/model_files.py"></location>
            <source>Download the model again, from its makers, or choose another.</source>
            <translation>请从模型作者处重新下载，或选择其他模型。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>Your chat is kept. Choose another model, or get this one from its makers.</source>
            <translation>对话已保留。请选择其他模型，或从作者处获取此模型。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>The model's tokenizer cannot be read.</source>
            <translation>无法读取模型的分词器。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>Download or import the model again; its tokenizer files may be missing or need code we do not run.</source>
            <translation>请重新下载或导入模型；它的分词器文件可能缺失，或者需要我们不会运行的代码。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>The model has no tokenizer.json, which Underhill needs to turn text into tokens.</source>
            <translation>模型没有 tokenizer.json，Underhill 需要用它把文本转换成词元。</translation>
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
            <source>The model's tokenizer takes too long for this text.</source>
            <translation>模型的分词器处理这段文字耗时过长。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>The model's tokenizer takes too much memory for this text.</source>
            <translation>模型的分词器处理这段文字占用内存过多。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>The model's tokenizer ends in a fault on this text.</source>
            <translation>模型的分词器处理这段文字时发生故障。</translation>
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
            <source>The model's chat template takes too long to write this chat.</source>
            <translation>模型的对话模板写出这段对话耗时过长。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>The model's chat template cannot be run.</source>
            <translation>无法运行模型的对话模板。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>The model's chat template makes too much of this chat.</source>
            <translation>模型的对话模板把这段对话写得过长。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>Reading the model's tokenizer takes too long.</source>
            <translation>读取模型的分词器耗时过长。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>Reading the model's tokenizer takes too much memory.</source>
            <translation>读取模型的分词器占用内存过多。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/model_files.py"></location>
            <source>Reading the model's tokenizer ends in a fault.</source>
            <translation>读取模型的分词器时发生故障。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/rendering.py"></location>
            <source>This model's chat template takes no tools.</source>
            <translation>这个模型的对话模板不支持工具。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/sampling.py"></location>
            <source>The model's output is not a number: some of its weights are damaged.</source>
            <translation>模型的输出不是数字：它的部分权重已损坏。</translation>
        </message>
        <message>
            <location filename="../../engine/generation/sampling.py"></location>
            <source>Your chat is kept. Import the model again, from its makers, or choose another.</source>
            <translation>您的对话已保留。请从制作者处重新导入模型，或选择其他模型。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>It was measured while other programs took {busy} % of the processor, and will be measured again when they do not.</source>
            <translation>测量时其他程序占用了 {busy} % 的处理器，等它们空闲后会重新测量。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>, {performance} of them fast ones</source>
            <translation>，其中 {performance} 个是性能核</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>{name}: {physical} cores{kinds}, {logical} threads; {isa} kernels on {cores} threads.</source>
            <translation>{name}：{physical} 核{kinds}，{logical} 线程；{isa} 内核使用 {cores} 个线程。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>{available} of {limit} of memory are free; it is read at {memory_rate} GB/s.</source>
            <translation>内存 {limit}，空闲 {available}；读取速度 {memory_rate} GB/s。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>; {pinned} GB/s to it</source>
            <translation>；传输到显卡的速度为 {pinned} GB/s</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>{name}: {free} of {total} free{link}; CUDA capability {capability}.</source>
            <translation>{name}：{total} 中有 {free} 可用{link}；CUDA 计算能力 {capability}。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>{disk_free} are free on the disk.</source>
            <translation>磁盘空闲 {disk_free}。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>It runs on its battery, where it may be slower.</source>
            <translation>正在使用电池供电，速度可能较慢。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>The disk reads experts at {disk_rate} GB/s; at best, {point}.</source>
            <translation>从磁盘读取专家的速度为 {disk_rate} GB/s；最快可达 {point}。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>{share} % at {tier} bits</source>
            <translation>{tier} 位时 {share} %</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>Experts are computed at this part of the memory's pace: {shares}.</source>
            <translation>计算专家的速度相当于内存速度的：{shares}。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>past the file cache</source>
            <translation>绕过文件缓存</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>through the file cache</source>
            <translation>经由文件缓存</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>{rate} GB/s ({nbytes} at a time, {depth} at once, {way})</source>
            <translation>{rate} GB/s（每次 {nbytes}，同时 {depth} 路，{way}）</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/computer.py"></location>
            <source>Paused at {percent} % of battery; it goes on once this computer is plugged in</source>
            <translation>电量剩余 {percent} %，已暂停；接通电源后继续</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/control_groups.py"></location>
            <source>Underhill needs {needed} MB of memory before any model, and may use {given} MB.</source>
            <translation>Underhill 在加载任何模型之前就需要 {needed} MB 内存，而可用的只有 {given} MB。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/control_groups.py"></location>
            <source>Raise the memory limit that Underhill runs under, or close other programs under the same limit.</source>
            <translation>请提高 Underhill 所受的内存限制，或关闭受同一限制的其他程序。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/disk_speed.py"></location>
            <source>The disk of {folder} is too full to be measured.</source>
            <translation>{folder} 所在的磁盘太满，无法测速。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/disk_speed.py"></location>
            <source>Free {part} MB there and measure again.</source>
            <translation>请在那里腾出 {part} MB，然后重新测速。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/disk_speed.py"></location>
            <source>The disk of {folder} cannot be measured, as nothing can be written there ({strerror}).</source>
            <translation>无法测量 {folder} 所在的磁盘，因为那里不能写入（{strerror}）。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/disk_speed.py"></location>
            <source>Choose a folder that can be written to, or measure with a model that lies there.</source>
            <translation>请选择可以写入的文件夹，或用位于那里的模型来测速。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/fingerprint.py"></location>
            <source>the disk is another one</source>
            <translation>磁盘已更换</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/fingerprint.py"></location>
            <source>the memory has another size</source>
            <translation>内存大小已改变</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/fingerprint.py"></location>
            <source>the processor is another one</source>
            <translation>处理器已更换</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/fingerprint.py"></location>
            <source>other cores may be used</source>
            <translation>可用的核心已改变</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/fingerprint.py"></location>
            <source>the operating system is another one</source>
            <translation>操作系统已更换</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/fingerprint.py"></location>
            <source>Underhill is of another version</source>
            <translation>Underhill 的版本已改变</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/fingerprint.py"></location>
            <source>torch is of another version</source>
            <translation>torch 的版本已改变</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/fingerprint.py"></location>
            <source>This computer has not been measured yet.</source>
            <translation>尚未对这台电脑测速。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/fingerprint.py"></location>
            <source>on its battery</source>
            <translation>使用电池时</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/fingerprint.py"></location>
            <source>on mains</source>
            <translation>接通电源时</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/fingerprint.py"></location>
            <source>This computer has not been measured {where} yet.</source>
            <translation>尚未在 {where} 对这台电脑测速。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/fingerprint.py"></location>
            <source>Since this computer was measured, {differs}.</source>
            <translation>自上次测速以来，{differs}。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/fingerprint.py"></location>
            <source>It has to be measured again.</source>
            <translation>需要重新测速。</translation>
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
            <source>The disk of {place} could not be read while it was measured ({strerror}).</source>
            <translation>测量时无法读取 {place} 所在的磁盘（{strerror}）。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/full_probe.py"></location>
            <source>Check the disk.</source>
            <translation>请检查磁盘。</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/full_probe.py"></location>
            <source>kernels</source>
            <translation>计算内核</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/full_probe.py"></location>
            <source>graphics cards</source>
            <translation>显卡</translation>
        </message>
        <message>
            <location filename="../../engine/hardware/full_probe.py"></location>
            <source>the disk</source>
            <translation>磁盘</translation>
        </message>
        <message>
            <location filename="../../engine/hub/chunks.py"></location>
            <source>What has arrived of {name} is cut short.</source>
            <translation>{name} 已下载的部分不完整。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/client.py"></location>
            <source>an answer without end</source>
            <translation>没完没了的应答</translation>
        </message>
        <message>
            <location filename="../../engine/hub/client.py"></location>
            <source>bytes that cannot be unpacked</source>
            <translation>无法解压的数据</translation>
        </message>
        <message>
            <location filename="../../engine/hub/client.py"></location>
            <source>{shown} is not the address of a hub.</source>
            <translation>{shown} 不是模型库的地址。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/client.py"></location>
            <source>It begins with https://.</source>
            <translation>它应以 https:// 开头。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/client.py"></location>
            <source>{repo} is not the name of a model.</source>
            <translation>{repo} 不是模型的名称。</translation>
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
            <source>{proxy} is not the address of a proxy.</source>
            <translation>{proxy} 不是代理的地址。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/client.py"></location>
            <source>It begins with http://.</source>
            <translation>它应以 http:// 开头。</translation>
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
            <source>No token was given.</source>
            <translation>没有给出令牌。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/client.py"></location>
            <source>Paste it, or give it on standard input.</source>
            <translation>请粘贴令牌，或从标准输入给出。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/client.py"></location>
            <source>This is not a token.</source>
            <translation>这不是令牌。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/client.py"></location>
            <source>Copy it again, whole and alone.</source>
            <translation>请重新复制，要完整且不带其他内容。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/control.py"></location>
            <source>The download was stopped.</source>
            <translation>下载已停止。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/control.py"></location>
            <source>Start it again to continue where it stopped.</source>
            <translation>再次开始即可从停下的地方继续。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/control.py"></location>
            <source>{reason} Trying again in {left} s.</source>
            <translation>{reason}{left} 秒后重试。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/control.py"></location>
            <source>{reason} Trying again.</source>
            <translation>{reason}正在重试。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/control.py"></location>
            <source>{filename} cannot be written ({strerror}).</source>
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
            <source>(in the settings, or with `underhill-cli token`)</source>
            <translation>（在设置中，或用 `underhill-cli token`）</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Try again later.</source>
            <translation>请稍后再试。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>In a hotel or on a train, sign in to the network in a browser first, and try again.</source>
            <translation>在酒店或列车上，请先在浏览器中登录网络，然后重试。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{action} What has arrived is kept.</source>
            <translation>{action}已下载的部分会保留。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>The variable HF_HUB_OFFLINE says so: take it away and start Underhill again to search and download.</source>
            <translation>变量 HF_HUB_OFFLINE 要求如此：要搜索和下载，先去掉它，再重新启动 Underhill。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Switch that off in the settings to search and download.</source>
            <translation>要搜索和下载，请在设置中关闭它。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Underhill is set to stay offline.</source>
            <translation>Underhill 已设为保持离线。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>The proxy {by_proxy} refused the connection to {host} ({cause}).</source>
            <translation>代理 {by_proxy} 拒绝了到 {host} 的连接（{cause}）。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Check the proxy setting.</source>
            <translation>请检查代理设置。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{host} has stopped answering.</source>
            <translation>{host} 停止了响应。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Check the connection, and try again.</source>
            <translation>请检查网络连接，然后重试。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>The proxy {by_proxy}</source>
            <translation>代理 {by_proxy}</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{who} could not be reached in time.</source>
            <translation>连接 {who} 超时。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>The certificate of {host} is not one that this computer trusts.</source>
            <translation>这台电脑不信任 {host} 的证书。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{sign_in} Else check the computer's clock. Where a proxy reads along, name its certificate in SSL_CERT_FILE.</source>
            <translation>{sign_in}否则请检查电脑的时钟。如果有代理会查看内容，请在 SSL_CERT_FILE 中指定它的证书。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>of the proxy {by_proxy}</source>
            <translation>代理 {by_proxy} 的地址</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>The address {who} cannot be found.</source>
            <translation>找不到地址 {who}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Check that this computer is online, and the address.</source>
            <translation>请检查这台电脑是否在线，以及地址是否正确。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>This computer has no network.</source>
            <translation>这台电脑没有网络。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Connect it, and try again.</source>
            <translation>请连接网络，然后重试。</translation>
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
            <source>{who} does not accept a connection.</source>
            <translation>{who} 不接受连接。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Check {what}, or try again later.</source>
            <translation>请检查 {what}，或稍后再试。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{host} answers too slowly.</source>
            <translation>{host} 应答太慢。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Check the connection, or try again later.</source>
            <translation>请检查网络连接，或稍后重试。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>The connection to {host} was cut.</source>
            <translation>与 {host} 的连接中断了。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{host}, where the hub keeps its files, refused ({status}).</source>
            <translation>模型站存放文件的 {host} 拒绝了请求（{status}）。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{name} is shorter on {host} than its list of files says.</source>
            <translation>{host} 上的 {name} 比其文件列表所写的短。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>The hub contradicts itself; try again later, or at another hub.</source>
            <translation>模型站自相矛盾；请稍后再试，或换一个站点。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{repo} is only given to people with an account who have accepted its licence.</source>
            <translation>{repo} 只提供给已登录账号并接受其许可协议的人。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Accept it at {page} and give Underhill a token of yours {how}.</source>
            <translation>请在 {page} 接受协议，并把你的令牌交给 Underhill{how}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Your account may not have {repo} yet.</source>
            <translation>你的账号还不能获取 {repo}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Accept its licence at {page}; where the makers decide by hand, wait for their answer.</source>
            <translation>请在 {page} 接受其许可协议；如果由作者人工审批，请等待答复。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{repo} has no such revision.</source>
            <translation>{repo} 没有这个修订版本。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>See {page} for those there are.</source>
            <translation>现有的见 {page}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{repo} has no file {name}.</source>
            <translation>{repo} 没有文件 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>There is no model {repo} on {host}, or it is private.</source>
            <translation>{host} 上没有模型 {repo}，或者它是私有的。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Check the name; for a private model, give Underhill a token of yours {how}.</source>
            <translation>请检查名称；如果是私有模型，请把你的令牌交给 Underhill{how}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{host} does not accept the token it was given.</source>
            <translation>{host} 不接受所给的令牌。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Give Underhill a new one {how}.</source>
            <translation>请给 Underhill 一个新令牌{how}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{host} asks for a token.</source>
            <translation>{host} 要求提供令牌。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Give Underhill a token of yours {how}.</source>
            <translation>请给 Underhill 一个你的令牌{how}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>This network wants you to sign in before it lets anything through.</source>
            <translation>这个网络要求先登录，才允许任何数据通过。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Wait some minutes</source>
            <translation>请等待几分钟</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Wait {after} seconds</source>
            <translation>请等待 {after} 秒</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Wait {ceil} minutes</source>
            <translation>请等待 {ceil} 分钟</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{host} has had too many requests from here.</source>
            <translation>从这里发往 {host} 的请求太多了。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{wait} and try again; with a token of an account, more are allowed.</source>
            <translation>{wait} 后重试；使用账号的令牌可以发送更多请求。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{host} has a problem of its own (error {status}).</source>
            <translation>{host} 自身出了问题（错误 {status}）。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{host} refused ({status}).</source>
            <translation>{host} 拒绝了请求（{status}）。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Check the address of the hub in the settings.</source>
            <translation>请在设置中检查模型站的地址。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{host} answered with {what}.</source>
            <translation>{host} 返回了 {what}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Check the address of the hub; in a hotel or on a train, sign in to the network in a browser first.</source>
            <translation>请检查模型站的地址；如果在酒店或列车上，请先在浏览器中登录网络。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{host} answered with a page of its own where {name} should be.</source>
            <translation>{host} 返回的是它自己的页面，而这里应该是 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{sign_in} If you have signed in, check the address of the hub.</source>
            <translation>{sign_in}如果已经登录，请检查模型站的地址。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{host} gives whole files only, no parts of them.</source>
            <translation>{host} 只提供整个文件，不提供其中的一部分。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Download the files first, and import them then: `underhill-cli pull --keep-source`.</source>
            <translation>请先下载文件，再导入：`underhill-cli pull --keep-source`。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{name} should have {promised} bytes, and {sent} are offered.</source>
            <translation>{name} 应有 {promised} 字节，而对方提供的是 {sent}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Try again, through another network if you can. If it stays so, choose another copy of the model.</source>
            <translation>再试一次，可以的话换个网络；如果还是这样，换该模型的另一份。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{name} arrived damaged, twice: its checksum is not the one that the hub names.</source>
            <translation>{name} 两次下载都已损坏：校验和与模型站写明的不同。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>That file was thrown away. Try again, through another network or hub if it keeps happening.</source>
            <translation>该文件已丢弃。请重试；如果一再发生，请换一个网络或站点。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{name} has changed on the hub since the download began.</source>
            <translation>下载开始后，{name} 在模型站上有了变化。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Start the download again: it keeps the files that are still the same.</source>
            <translation>请重新开始下载：没有变化的文件会保留。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Free {value} MB there</source>
            <translation>请在那里腾出 {value} MB</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>Free some space there</source>
            <translation>请在那里腾出一些空间</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>There is not enough space for this on the disk of {folder}.</source>
            <translation>{folder} 所在的磁盘空间不足。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/errors.py"></location>
            <source>{room} and try again.</source>
            <translation>{room}后重试。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/listings.py"></location>
            <source>Its makers publish it in about 4 bits, and those are kept: nothing is lost.</source>
            <translation>制作者发布的就是约 4 位的版本，并原样保留：没有任何损失。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/listings.py"></location>
            <source>Quantized to 4 bits by its makers: nearly as good as the original, and kept as it is.</source>
            <translation>由制作者量化为 4 位：几乎与原始模型一样好，并原样保留。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/listings.py"></location>
            <source>Quantized to 4 bits by {by}: nearly as good as the original, and kept as it is.</source>
            <translation>由{by}量化为 4 位：几乎与原始模型一样好，并原样保留。</translation>
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
            <source>{repo} is not a model that can be imported: {why}.</source>
            <translation>{repo} 不是可以导入的模型：{why}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/outline.py"></location>
            <source>Look for another repository of the same model, with safetensors or GGUF files.</source>
            <translation>请寻找同一模型的其他仓库，其中要有 safetensors 或 GGUF 文件。</translation>
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
            <source>There are: {listed}.</source>
            <translation>现有：{listed}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/streaming.py"></location>
            <source>A part of its files is on the disk already.</source>
            <translation>它的一部分文件已在磁盘上。</translation>
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
            <source>No keyring works on this computer, so a token cannot be kept; set {variable} instead.</source>
            <translation>这台电脑上没有可用的密钥环，无法保存令牌；请改为设置 {variable}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/tokens.py"></location>
            <source>The keyring of this computer is locked, so the token in it is not used. Unlock it, then try again.</source>
            <translation>这台电脑的密钥环已锁定，因此没有使用其中的令牌。请解锁后重试。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/tokens.py"></location>
            <source>The keyring of this computer is locked, so the token was neither kept nor removed.</source>
            <translation>这台电脑的密钥环已锁定，因此令牌既没有保存，也没有移除。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/tokens.py"></location>
            <source>Unlock it and try again, or set the variable {variable}.</source>
            <translation>请解锁后重试，或设置变量 {variable}。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/tokens.py"></location>
            <source>No keyring works on this computer, so the token cannot be kept safely.</source>
            <translation>这台电脑上没有可用的密钥环，无法安全地保存令牌。</translation>
        </message>
        <message>
            <location filename="../../engine/hub/tokens.py"></location>
            <source>Unlock or install one (on Linux: GNOME Keyring or KWallet), or set the variable {variable}.</source>
            <translation>请解锁或安装一个（Linux 上：GNOME Keyring 或 KWallet），或设置变量 {variable}。</translation>
        </message>
        <message>
            <location filename="../../engine/kernels/dense.py"></location>
            <source>The model holds weights that are not finite numbers.</source>
            <translation>模型的权重中有非有限的数值。</translation>
        </message>
        <message>
            <location filename="../../engine/kernels/encode.py"></location>
            <source>No memory is left to quantize in.</source>
            <translation>没有内存可用于量化。</translation>
        </message>
        <message>
            <location filename="../../engine/kernels/encode.py"></location>
            <source>Close other programs.</source>
            <translation>请关闭其他程序。</translation>
        </message>
        <message>
            <location filename="../../engine/kernels/native.py"></location>
            <source>No memory is left to compute in.</source>
            <translation>没有内存可用于计算。</translation>
        </message>
        <message>
            <location filename="../../engine/kernels/native.py"></location>
            <source>Lower the memory ceiling.</source>
            <translation>请调低内存上限。</translation>
        </message>
        <message>
            <location filename="../../engine/kernels/native.py"></location>
            <source>The compute threads could not be started.</source>
            <translation>无法启动计算线程。</translation>
        </message>
        <message>
            <location filename="../../engine/kernels/native.py"></location>
            <source>Use fewer threads.</source>
            <translation>请减少线程数。</translation>
        </message>
        <message>
            <location filename="../../engine/library/builtin.py"></location>
            <source>It is made when it is first used.</source>
            <translation>它会在首次使用时生成。</translation>
        </message>
        <message>
            <location filename="../../engine/library/catalogue.py"></location>
            <source>The catalogue {file} is damaged.</source>
            <translation>模型目录 {file} 已损坏。</translation>
        </message>
        <message>
            <location filename="../../engine/library/catalogue.py"></location>
            <source>Install Underhill again.</source>
            <translation>请重新安装 Underhill。</translation>
        </message>
        <message>
            <location filename="../../engine/library/computer.py"></location>
            <source>Waiting for other programs to leave the processor</source>
            <translation>正在等待其他程序让出处理器</translation>
        </message>
        <message>
            <location filename="../../engine/library/computer.py"></location>
            <source>Other programs take the processor, so what is known is kept.</source>
            <translation>其他程序正占用处理器，因此保留已知的结果。</translation>
        </message>
        <message>
            <location filename="../../engine/library/computer.py"></location>
            <source>{sentence} What was measured could not be kept, and will have to be measured again.</source>
            <translation>{sentence}测量结果无法保存，之后需要重新测量。</translation>
        </message>
        <message>
            <location filename="../../engine/library/damage.py"></location>
            <source>Import it again. “Check every byte” in the library, or `underhill-cli verify {model}`, names everything that is damaged.</source>
            <translation>请重新导入。模型库里的“完整校验”或 `underhill-cli verify {model}` 会列出所有损坏之处。</translation>
        </message>
        <message>
            <location filename="../../engine/library/damage.py"></location>
            <source>Delete it (`underhill-cli rm builtin`): it is made anew when it is next used.</source>
            <translation>请删除它（`underhill-cli rm builtin`）：下次使用时会重新生成。</translation>
        </message>
        <message>
            <location filename="../../engine/library/damage.py"></location>
            <source>Open the built-in model again: it is made anew.</source>
            <translation>请重新打开内置模型：它会重新生成。</translation>
        </message>
        <message>
            <location filename="../../engine/library/damage.py"></location>
            <source>Open the built-in model again: it is made anew. `underhill-cli verify builtin` checks it.</source>
            <translation>请重新打开内置模型：它会重新生成。可用 `underhill-cli verify builtin` 检查。</translation>
        </message>
        <message>
            <location filename="../../engine/library/dials.py"></location>
            <source>HOBBIT 67/30/3</source>
            <translation>HOBBIT 67/30/3</translation>
        </message>
        <message>
            <location filename="../../engine/library/dials.py"></location>
            <source>Exact: full precision always; the answer does not depend on what is in memory.</source>
            <translation>精确：始终使用全精度；回答不受内存中有哪些专家影响。</translation>
        </message>
        <message>
            <location filename="../../engine/library/dials.py"></location>
            <source>{called}: what it costs on this model has not been measured yet.</source>
            <translation>{called}：尚未测量它在此模型上的代价。</translation>
        </message>
        <message>
            <location filename="../../engine/library/dials.py"></location>
            <source>{figures} on this model if every expert has to be fetched</source>
            <translation>如果每个专家都要从磁盘读取，在此模型上的代价为 {figures}</translation>
        </message>
        <message>
            <location filename="../../engine/library/dials.py"></location>
            <source>{called}: {most}, nothing while all are in memory.</source>
            <translation>{called}：{most}；全部在内存中时没有代价。</translation>
        </message>
        <message>
            <location filename="../../engine/library/dials.py"></location>
            <source>{called}: {figures} with {share} % of the experts in memory, {most}.</source>
            <translation>{called}：{share} % 的专家在内存中时为 {figures}；{most}。</translation>
        </message>
        <message>
            <location filename="../../engine/library/dials.py"></location>
            <source>KL {kl} from Exact</source>
            <translation>与“精确”相差 KL {kl}</translation>
        </message>
        <message>
            <location filename="../../engine/library/external_models.py"></location>
            <source>Looking at {title}</source>
            <translation>正在查看 {title}</translation>
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
            <source>The model folder {relative} is no whole path.</source>
            <translation>模型文件夹 {relative} 不是完整路径。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>Correct it in {file}.</source>
            <translation>请在 {file} 中更正。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>{folder} cannot be written.</source>
            <translation>无法写入 {folder}。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>Choose another folder, or change its permissions.</source>
            <translation>请选择其他文件夹，或修改它的权限。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>{wanted} is not a folder of the library.</source>
            <translation>{wanted} 不是模型库的文件夹。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>There are: {paths}. Others are added in the settings, or by `underhill-cli folders --add`.</source>
            <translation>现有：{paths}。可在设置中添加其他文件夹，或用 `underhill-cli folders --add`。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>A folder's name cannot have line breaks.</source>
            <translation>文件夹名称不能包含换行。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>{path} is a model itself.</source>
            <translation>{path} 本身就是一个模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>Choose the folder that holds it, or import the model.</source>
            <translation>请选择包含它的文件夹，或导入该模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>{path} cannot be made: there is no folder {parent}.</source>
            <translation>无法创建 {path}：不存在文件夹 {parent}。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>Make that folder first, or connect the disk that it is on.</source>
            <translation>先创建该文件夹，或连接它所在的磁盘。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>{path} cannot be written, and there is no model in it.</source>
            <translation>{path} 不可写入，而且里面没有模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>The folder in Underhill's own data cannot be taken away.</source>
            <translation>Underhill 自己数据目录中的文件夹不能移除。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>Begin with the disk's root.</source>
            <translation>请从磁盘根目录写起。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>The folder {folder} is not there now.</source>
            <translation>文件夹 {folder} 现在不存在。</translation>
        </message>
        <message>
            <location filename="../../engine/library/folders.py"></location>
            <source>Connect its disk, or choose another folder.</source>
            <translation>请连接它所在的磁盘，或选择其他文件夹。</translation>
        </message>
        <message>
            <location filename="../../engine/library/home.py"></location>
            <source>A model cannot be called {name}.</source>
            <translation>模型不能命名为 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/library/home.py"></location>
            <source>Use letters, digits, spaces, - and _.</source>
            <translation>请使用字母、数字、空格、- 和 _。</translation>
        </message>
        <message>
            <location filename="../../engine/library/import_compatibility.py"></location>
            <source>Underhill does not open {architecture} models from GGUF.</source>
            <translation>Underhill 不能从 GGUF 打开 {architecture} 模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/import_compatibility.py"></location>
            <source>unnamed</source>
            <translation>未命名</translation>
        </message>
        <message>
            <location filename="../../engine/library/import_compatibility.py"></location>
            <source>Underhill does not open {model_type} models.</source>
            <translation>Underhill 不能打开 {model_type} 模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/import_compatibility.py"></location>
            <source>It is dense, not a Mixture-of-Experts model; Underhill runs those, which have routed experts.</source>
            <translation>它是稠密模型，不是混合专家模型；Underhill 运行的是有路由专家的混合专家模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>{model} cannot be opened: {problem}</source>
            <translation>无法打开 {model}：{problem}</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>There is no model called {model} in the library.</source>
            <translation>模型库中没有名为 {model} 的模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>There are: {builtin}.</source>
            <translation>现有：{builtin}。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>{path} is not a model.</source>
            <translation>{path} 不是模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>Choose a folder that holds config.json and .safetensors files, a GGUF file, or a model of the library.</source>
            <translation>请选择存放 config.json 和 .safetensors 文件的文件夹、GGUF 文件，或模型库中的模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>There is no unfinished import called {name}.</source>
            <translation>没有名为 {name} 的未完成导入。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>Import what it is to be made from.</source>
            <translation>请导入用来制作它的源模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>{name} was being imported while it arrived from a hub.</source>
            <translation>{name} 是边下载边导入的。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>Pull {source} again: it goes on where it stopped.</source>
            <translation>请重新拉取 {source}：会从停下的地方继续。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>There is already a model called {name}.</source>
            <translation>已有名为 {name} 的模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>Choose another name, or delete that one.</source>
            <translation>请换一个名称，或删除已有的那个。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>Deleted models still take {waiting} MB there: emptying the trash frees them.</source>
            <translation>已删除的模型仍占用 {waiting} MB：清空回收站即可释放。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>{parent} cannot be written, so {name} cannot be deleted.</source>
            <translation>无法写入 {parent}，因此不能删除 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>Make its disk writable; or take the folder out of the library, and the model stays where it is.</source>
            <translation>请让它所在的磁盘可写；或者把该文件夹移出模型库，模型会留在原处。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>There is no model called {name}.</source>
            <translation>没有名为 {name} 的模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/library.py"></location>
            <source>There are: {there}.</source>
            <translation>现有：{there}。</translation>
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
            <source>A very small model ({parameters} million parameters) that comes with Underhill, to try the app and see experts at work. It makes small talk and is often wrong; import a bigger model for real use.</source>
            <translation>一个很小的模型（{parameters} 百万参数），随 Underhill 提供，用来试用这个应用、观察专家如何工作。它能闲聊，但经常出错；真正使用时请导入更大的模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>A very small model; expect simple and often wrong answers.</source>
            <translation>一个很小的模型；回答会很简单，而且经常出错。</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>This family runs through the compatibility backend, which is slower.</source>
            <translation>此模型系列通过兼容后端运行，速度较慢。</translation>
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
            <source>(It was made from {source}.)</source>
            <translation>（它是由 {source} 制作的。）</translation>
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
            <source>Pull</source>
            <translation>拉取</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>Import</source>
            <translation>导入</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>{verb} {source} again: it goes on where it stopped. Or delete what there is of it.</source>
            <translation>请重新{verb} {source}：会从停下的地方继续。或者删除已有的部分。</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>it</source>
            <translation>它</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>{how} was not finished.</source>
            <translation>{how} 没有完成。</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>It ended with: {why}</source>
            <translation>结束时的原因：{why}</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>{how} is going on.</source>
            <translation>{how} 正在进行。</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>It is being moved to {parent}.</source>
            <translation>正在移动到 {parent}。</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>Moving it to {parent} was interrupted.</source>
            <translation>移动到 {parent} 的过程中断了。</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>Move it there again: it goes on where it stopped. Or move it to where it is, to leave it there.</source>
            <translation>请再次移动到那里：会从停下的地方继续。或者移动到它现在的位置，让它留在那里。</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>Connect its disk.</source>
            <translation>请连接它所在的磁盘。</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>There is another {name}, in {parent}.</source>
            <translation>{parent} 中还有一个 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/library/listing.py"></location>
            <source>Rename {path}, and it can be used.</source>
            <translation>重命名 {path} 后即可使用它。</translation>
        </message>
        <message>
            <location filename="../../engine/library/lowering.py"></location>
            <source>Writing the experts</source>
            <translation>正在写入专家</translation>
        </message>
        <message>
            <location filename="../../engine/library/lowering.py"></location>
            <source>Only experts that are all stored with 4 or 8 bits can be lowered to fewer.</source>
            <translation>只有全部以 4 位或 8 位存储的专家才能降到更少的位。</translation>
        </message>
        <message>
            <location filename="../../engine/library/lowering.py"></location>
            <source>Import the model again with --top 4 or 8.</source>
            <translation>请用 --top 4 或 8 重新导入模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/lowering.py"></location>
            <source>The original of {name} is no longer there.</source>
            <translation>{name} 的原模型已经不在了。</translation>
        </message>
        <message>
            <location filename="../../engine/library/lowering.py"></location>
            <source>Download or import the model again.</source>
            <translation>重新下载或导入该模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/relocation.py"></location>
            <source>The built-in model stays where it is.</source>
            <translation>内置模型会留在原处。</translation>
        </message>
        <message>
            <location filename="../../engine/library/relocation.py"></location>
            <source>It is small.</source>
            <translation>它很小。</translation>
        </message>
        <message>
            <location filename="../../engine/library/relocation.py"></location>
            <source>{destination} is there already, and is not a copy of this model that was begun.</source>
            <translation>{destination} 已经存在，而且不是这个模型已开始的副本。</translation>
        </message>
        <message>
            <location filename="../../engine/library/relocation.py"></location>
            <source>Rename it or move it away, or choose another folder.</source>
            <translation>请给它改名或把它移走，或者选择另一个文件夹。</translation>
        </message>
        <message>
            <location filename="../../engine/library/relocation.py"></location>
            <source>{name} is in {goal} now, but its old copy could not be removed.</source>
            <translation>{name} 已在 {goal} 中，但无法移除旧的副本。</translation>
        </message>
        <message>
            <location filename="../../engine/library/relocation.py"></location>
            <source>{sentence} It is tried again later.</source>
            <translation>{sentence}稍后会再试。</translation>
        </message>
        <message>
            <location filename="../../engine/library/relocation.py"></location>
            <source>There is no model in {folder}.</source>
            <translation>{folder} 中没有模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/relocation.py"></location>
            <source>Choose a folder that holds config.json and .safetensors files, or one with models of Underhill in it.</source>
            <translation>请选择存放 config.json 和 .safetensors 文件的文件夹，或里面有 Underhill 模型的文件夹。</translation>
        </message>
        <message>
            <location filename="../../engine/library/settings_file.py"></location>
            <source>{file} was saved by a newer version of Underhill (format {found}).</source>
            <translation>{file} 由更新版本的 Underhill 保存（格式 {found}）。</translation>
        </message>
        <message>
            <location filename="../../engine/library/settings_file.py"></location>
            <source>Install that version again to change these settings. They are untouched.</source>
            <translation>重新安装那个版本即可更改这些设置。它们未被改动。</translation>
        </message>
        <message>
            <location filename="../../engine/library/settings_file.py"></location>
            <source>{file} cannot be read.</source>
            <translation>无法读取 {file}。</translation>
        </message>
        <message>
            <location filename="../../engine/library/settings_file.py"></location>
            <source>Repair it, or delete it to go back to the usual settings.</source>
            <translation>请修复它，或删除它以恢复默认设置。</translation>
        </message>
        <message>
            <location filename="../../engine/library/speed_record.py"></location>
            <source>{low} to {high}</source>
            <translation>{low}～{high}</translation>
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
            <source>It runs at {measured} tokens a second, which is {word} than the {span} expected. The expectation has been corrected.</source>
            <translation>它每秒运行 {measured} 个词元，比预计的 {span} {word}。预计值已更正。</translation>
        </message>
        <message>
            <location filename="../../engine/library/store_copy.py"></location>
            <source>{parent} cannot be written, so {name} cannot be taken away from there.</source>
            <translation>无法写入 {parent}，因此不能从那里移走 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/library/store_copy.py"></location>
            <source>Import it under another name instead: that makes a copy.</source>
            <translation>请改用其他名称导入：这会生成一个副本。</translation>
        </message>
        <message>
            <location filename="../../engine/library/store_copy.py"></location>
            <source>There is already a {name} in {parent}.</source>
            <translation>{parent} 中已有 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/library/store_copy.py"></location>
            <source>Rename or delete that one first.</source>
            <translation>请先重命名或删除它。</translation>
        </message>
        <message>
            <location filename="../../engine/library/store_copy.py"></location>
            <source>There is not enough space for {name} in {parent}.</source>
            <translation>{parent} 的空间不足，放不下 {name}。</translation>
        </message>
        <message>
            <location filename="../../engine/library/store_copy.py"></location>
            <source>Free {free} MB there, or choose another folder.</source>
            <translation>请在那里腾出 {free} MB，或选择其他文件夹。</translation>
        </message>
        <message>
            <location filename="../../engine/library/store_copy.py"></location>
            <source>Copying</source>
            <translation>正在复制</translation>
        </message>
        <message>
            <location filename="../../engine/library/store_copy.py"></location>
            <source>{name} came out otherwise than it was written</source>
            <translation>{name} 写入后的内容与原来不同</translation>
        </message>
        <message>
            <location filename="../../engine/library/store_copy.py"></location>
            <source>Checking the copy</source>
            <translation>正在检查副本</translation>
        </message>
        <message>
            <location filename="../../engine/library/store_copy.py"></location>
            <source>The copy in {parent} is not good: {what}.</source>
            <translation>{parent} 中的副本有问题：{what}。</translation>
        </message>
        <message>
            <location filename="../../engine/library/store_copy.py"></location>
            <source>The model is still where it was. Verify it: either it is damaged itself, or the other disk is failing.</source>
            <translation>模型仍在原处。请校验它：要么它自身已损坏，要么另一块磁盘有故障。</translation>
        </message>
        <message>
            <location filename="../../engine/library/trash.py"></location>
            <source>There is no deleted model called {name}.</source>
            <translation>没有名为 {name} 的已删除模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/trash.py"></location>
            <source>There are: {others}.</source>
            <translation>现有：{others}。</translation>
        </message>
        <message>
            <location filename="../../engine/library/trash.py"></location>
            <source>The trash is empty.</source>
            <translation>回收站是空的。</translation>
        </message>
        <message>
            <location filename="../../engine/library/trash.py"></location>
            <source>There is another model called {wanted} now.</source>
            <translation>现在已有另一个名为 {wanted} 的模型。</translation>
        </message>
        <message>
            <location filename="../../engine/library/trash.py"></location>
            <source>Bring it back under another name.</source>
            <translation>请用其他名称恢复它。</translation>
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
            <location filename="../../engine/models/compat/decoder.py"></location>
            <source>This family runs through the compatibility backend, which is slower than Underhill's own decoder.</source>
            <translation>此模型系列通过兼容后端运行，比 Underhill 自己的解码器慢。</translation>
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
            <source>Torch computes the layers.</source>
            <translation>各层由 torch 计算。</translation>
        </message>
        <message>
            <location filename="../../engine/models/decoder.py"></location>
            <source>Torch computes the layers, more slowly than native code would: {reason}.</source>
            <translation>各层由 torch 计算，比原生代码慢：{reason}。</translation>
        </message>
        <message>
            <location filename="../../engine/models/families/__init__.py"></location>
            <source>Underhill has no decoder of its own for {family} models.</source>
            <translation>Underhill 没有自己的 {family} 模型解码器。</translation>
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
            <source>Set Underhill up again, with installers/run.sh, or build it: python -m engine.native.build</source>
            <translation>请用 installers/run.sh 重新安装 Underhill，或自行编译：python -m engine.native.build</translation>
        </message>
        <message>
            <location filename="../../engine/native/library.py"></location>
            <source>Native kernels ({names}) compute on {threads} {threads2}.</source>
            <translation>原生内核（{names}）使用 {threads} {threads2}计算。</translation>
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
            <source>{available} of memory are free; Underhill may use {safe} in all and leaves the rest to other programs.</source>
            <translation>有 {available} 空闲内存；Underhill 总共可使用 {safe}，其余留给其他程序。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/budget.py"></location>
            <source>The ceiling of {asked} GB is lowered to {at_most}: no more is safely free.</source>
            <translation>内存上限从 {asked} GB 降为 {at_most}：再多就不安全了。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/budget.py"></location>
            <source>The memory ceiling is {asked}, of which the program itself takes {in_use}.</source>
            <translation>内存上限为 {asked}，其中程序自身占用 {in_use}。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/fit.py"></location>
            <source>Too big: {sentence}</source>
            <translation>太大：{sentence}</translation>
        </message>
        <message>
            <location filename="../../engine/planning/fit.py"></location>
            <source>Too big for the disk: it takes {disk}, {disk_margin} should stay free, and {disk_free} are free there.</source>
            <translation>磁盘放不下：它需要 {disk}，另外应留出 {disk_margin}，而那里空闲 {disk_free}。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/fit.py"></location>
            <source>all of it in memory</source>
            <translation>全部在内存中</translation>
        </message>
        <message>
            <location filename="../../engine/planning/fit.py"></location>
            <source>{whole} % of its experts in memory, the rest read from disk</source>
            <translation>{whole} % 的专家在内存中，其余从磁盘读取</translation>
        </message>
        <message>
            <location filename="../../engine/planning/fit.py"></location>
            <source>{pill}: about {span} tokens a second with {tier}-bit experts, {where}.</source>
            <translation>{pill}：约每秒 {span} 个词元，使用 {tier} 位专家，{where}。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/fit.py"></location>
            <source>Slow</source>
            <translation>较慢</translation>
        </message>
        <message>
            <location filename="../../engine/planning/fit.py"></location>
            <source>Fits</source>
            <translation>适合</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>CPU-only</source>
            <translation>仅处理器</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>CPU-assisted</source>
            <translation>处理器辅助</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>GPU-centric</source>
            <translation>显卡为主</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{name} is not computed on: the experts of this model are not quantized.</source>
            <translation>不使用 {name} 计算：此模型的专家未量化。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{name} is not computed on: its driver would take memory that the model needs.</source>
            <translation>不使用 {name} 计算：它的驱动程序会占用模型所需的内存。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{name} is not computed on: too little of its memory is free.</source>
            <translation>不使用 {name} 计算：它的可用显存太少。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{name} is not computed on: by arithmetic the processor alone is as fast.</source>
            <translation>不使用 {name} 计算：据估算，仅用处理器同样快。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{name} computes too: {device_experts} of experts lie in its memory, and what it lacks is computed by the processor at the same time.</source>
            <translation>{name} 也参与计算：它的显存中有 {device_experts} 专家，其余的由处理器同时计算。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>Expect about {span} tokens a second, by arithmetic that no card was held against.</source>
            <translation>预计每秒约 {span} 个词元，这是未经任何显卡验证的估算。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{name} is not computed on: the processor alone was chosen.</source>
            <translation>不在 {name} 上计算：选择了只用处理器。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{name} is not computed on: it has no memory of its own.</source>
            <translation>不使用 {name} 计算：它没有自己的显存。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{name} is not computed on: it is too old.</source>
            <translation>不使用 {name} 计算：它太旧了。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{name} is not computed on: another card is.</source>
            <translation>不使用 {name} 计算：使用的是另一块显卡。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>This version of Underhill does not compute everything on the card.</source>
            <translation>这个版本的 Underhill 不会把全部计算放在显卡上。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>The graphics card is too old to compute experts.</source>
            <translation>显卡太旧，无法计算专家。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>No NVIDIA graphics card with memory of its own was found here.</source>
            <translation>这里没有找到带独立显存的 NVIDIA 显卡。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{names} cannot run here. {why_not}</source>
            <translation>{names} 模式不能在这里运行。{why_not}</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>Set the mode to {auto} or {cpu}.</source>
            <translation>请把模式设为 {auto} 或 {cpu}。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{name} has no memory of its own: nothing would be gained.</source>
            <translation>{name} 没有独立显存：用它不会更快。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>The card's memory does not hold it.</source>
            <translation>显存放不下它。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{names}: not possible.</source>
            <translation>{names}：不可行。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{names}: about {span} tokens a second; this is what runs.</source>
            <translation>{names}：约每秒 {span} 个词元；正在使用这种模式。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{names}: about {span} tokens a second.</source>
            <translation>{names}：每秒约 {span} 个词元。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/offload.py"></location>
            <source>{names}: would be about {span} tokens a second, by arithmetic that no card was held against, with {device_experts} of experts in graphics memory. {against}</source>
            <translation>{names}：约为每秒 {span} 个词元，显存中放 {device_experts} 的专家；这只是估算，未在任何显卡上验证。{against}</translation>
        </message>
        <message>
            <location filename="../../engine/planning/plan.py"></location>
            <source>The context is {found} tokens instead of {wanted}, so that experts have room too.</source>
            <translation>上下文为 {found} 个词元，而不是 {wanted} 个，以便给专家留出空间。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/plan.py"></location>
            <source>with more, not all experts would stay in memory</source>
            <translation>再多的话，就不能把全部专家留在内存中</translation>
        </message>
        <message>
            <location filename="../../engine/planning/plan.py"></location>
            <source>the rest of the memory is for experts</source>
            <translation>其余内存留给专家</translation>
        </message>
        <message>
            <location filename="../../engine/planning/plan.py"></location>
            <source>The context is {found} tokens of the {wanted} possible: {reason}. Its setting overrules this.</source>
            <translation>上下文为 {found} 个词元（最多可有 {wanted} 个）：{reason}。可以在设置中另行指定。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/plan.py"></location>
            <source>{name} holds no {tier}-bit experts.</source>
            <translation>{name} 没有 {tier} 位的专家。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/plan.py"></location>
            <source>It holds these bits: {stored}.</source>
            <translation>它有这些位数：{stored}。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/plan.py"></location>
            <source>past the system's file cache ({int} a second)</source>
            <translation>绕过系统文件缓存（每秒 {int}）</translation>
        </message>
        <message>
            <location filename="../../engine/planning/plan.py"></location>
            <source>through it ({int})</source>
            <translation>经由它（每秒 {int}）</translation>
        </message>
        <message>
            <location filename="../../engine/planning/plan.py"></location>
            <source>Experts are read {ways}, which was measured beside {ways2}.</source>
            <translation>读取专家的方式：{ways}；同时测得的另一种方式：{ways2}。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/plan.py"></location>
            <source>Experts are read through the system's file cache ({int} a second): past it the disk gives {int2}.</source>
            <translation>专家经由系统文件缓存读取（每秒 {int}）：绕过它时磁盘每秒只有 {int2}。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/plan.py"></location>
            <source>Raise the memory ceiling to {at_least} or more, or choose a smaller model.</source>
            <translation>请把内存上限提高到 {at_least} 或更多，或选择更小的模型。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/plan.py"></location>
            <source>Close other programs, or choose a smaller model.</source>
            <translation>请关闭其他程序，或选择更小的模型。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/plan.py"></location>
            <source>{name} needs {at_least} of memory at the least, and {at_most} may be used.</source>
            <translation>{name} 至少需要 {at_least} 内存，而可用的是 {at_most}。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/plan.py"></location>
            <source>The other weights are held at 4 bits, which costs some precision, so that the model fits.</source>
            <translation>为了放得下此模型，其他权重以 4 位保存，会损失一些精度。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/plan.py"></location>
            <source>The other weights are held as {possible}: {wanted} is not possible with this family.</source>
            <translation>其他权重以 {possible} 保存：此模型系列无法使用 {wanted}。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/plan.py"></location>
            <source>All {whole} of experts fit in memory, so every one runs at {tier} bits whatever the dial says.</source>
            <translation>全部 {whole} 的专家都放得进内存，因此无论选择哪个档位，每个专家都以 {tier} 位运行。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/plan.py"></location>
            <source>{cache} of {whole} of experts ({whole2} %) are kept in memory at {tier} bits; the rest is read from disk when needed.</source>
            <translation>共 {whole} 的专家，其中 {cache}（{whole2} %）以 {tier} 位保存在内存中；其余在需要时从磁盘读取。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/speed.py"></location>
            <source>reading experts from disk</source>
            <translation>从磁盘读取专家</translation>
        </message>
        <message>
            <location filename="../../engine/planning/speed.py"></location>
            <source>computing from memory</source>
            <translation>内存中的计算</translation>
        </message>
        <message>
            <location filename="../../engine/planning/speed.py"></location>
            <source>up to {high}</source>
            <translation>最高 {high}</translation>
        </message>
        <message>
            <location filename="../../engine/planning/speed.py"></location>
            <source>, as was measured here</source>
            <translation>（根据在这台电脑上的实测）</translation>
        </message>
        <message>
            <location filename="../../engine/planning/speed.py"></location>
            <source>, {span} once the context is full</source>
            <translation>，上下文占满后{span} 个</translation>
        </message>
        <message>
            <location filename="../../engine/planning/speed.py"></location>
            <source>Expect {span} tokens a second{learned}{later}; {what} sets the pace.</source>
            <translation>预计每秒 {span} 个词元{learned}{later}；速度取决于 {what}。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/speed.py"></location>
            <source>about {low} to {high}</source>
            <translation>约 {low}～{high}</translation>
        </message>
        <message>
            <location filename="../../engine/planning/speed.py"></location>
            <source>about {low}</source>
            <translation>约 {low}</translation>
        </message>
        <message>
            <location filename="../../engine/planning/speed.py"></location>
            <source>A prompt of {prompt} tokens takes less than {shortest} seconds before the answer begins.</source>
            <translation>{prompt} 个词元的提示词，不到 {shortest} 秒就会开始回答。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/speed.py"></location>
            <source>{fast} to {slow}</source>
            <translation>{fast}～{slow}</translation>
        </message>
        <message>
            <location filename="../../engine/planning/speed.py"></location>
            <source>A prompt of {prompt} tokens takes about 1.0 second before the answer begins.</source>
            <translation>{prompt} 个词元的提示词，约 1.0 秒后开始回答。</translation>
        </message>
        <message>
            <location filename="../../engine/planning/speed.py"></location>
            <source>A prompt of {prompt} tokens takes about {span} seconds before the answer begins.</source>
            <translation>{prompt} 个词元的提示词，约 {span} 秒后开始回答。</translation>
        </message>
        <message>
            <location filename="../../engine/process/engine_process.py"></location>
            <source>The engine's process ended with exit code {code}.</source>
            <translation>引擎进程已结束，退出代码为 {code}。</translation>
        </message>
        <message>
            <location filename="../../engine/process/engine_process.py"></location>
            <source>The engine's process was ended by {name}.</source>
            <translation>引擎进程被 {name} 结束。</translation>
        </message>
        <message>
            <location filename="../../engine/process/engine_process.py"></location>
            <source>The system ends programs so when memory runs out.</source>
            <translation>内存耗尽时，系统会这样结束程序。</translation>
        </message>
        <message>
            <location filename="../../engine/protocol/events.py"></location>
            <source>The engine has stopped working.</source>
            <translation>引擎停止了工作。</translation>
        </message>
        <message>
            <location filename="../../engine/protocol/events.py"></location>
            <source>Your chats are safe. Start it again to go on.</source>
            <translation>你的对话是安全的。重新启动引擎即可继续。</translation>
        </message>
        <message>
            <location filename="../../engine/protocol/events.py"></location>
            <source>Something in the engine did not come back, so the engine was ended.</source>
            <translation>引擎中有操作一直没有返回，因此引擎已被终止。</translation>
        </message>
        <message>
            <location filename="../../engine/protocol/events.py"></location>
            <source>Your chats are safe. It starts again, and opens the model.</source>
            <translation>您的对话都安然无恙。引擎会重新启动并打开模型。</translation>
        </message>
        <message>
            <location filename="../../engine/quantization/planes.py"></location>
            <source>Layer {layer}, expert {expert}: {name} holds numbers that are not finite.</source>
            <translation>第 {layer} 层专家 {expert}：{name} 中有非有限的数值。</translation>
        </message>
        <message>
            <location filename="../../engine/server/access_key.py"></location>
            <source>Unlock it and try again.</source>
            <translation>解锁后再试一次。</translation>
        </message>
        <message>
            <location filename="../../engine/server/access_key.py"></location>
            <source>Unlock or install one (on Linux: GNOME Keyring or KWallet).</source>
            <translation>解锁或安装一个（Linux 上：GNOME Keyring 或 KWallet）。</translation>
        </message>
        <message>
            <location filename="../../engine/server/access_key.py"></location>
            <source>The keyring of this computer is locked, so the key was neither kept nor removed.</source>
            <translation>这台电脑的密钥环已锁定，密钥既未保存也未移除。</translation>
        </message>
        <message>
            <location filename="../../engine/server/access_key.py"></location>
            <source>No keyring works on this computer, so the key cannot be kept safely.</source>
            <translation>这台电脑上没有可用的密钥环，因此无法安全保存密钥。</translation>
        </message>
        <message>
            <location filename="../../engine/server/access_key.py"></location>
            <source>The keyring of this computer is locked, so the key of the local server in it cannot be read.</source>
            <translation>这台电脑的密钥环已锁定，无法读取其中的本地服务器密钥。</translation>
        </message>
        <message>
            <location filename="../../engine/server/access_key.py"></location>
            <source>No keyring works on this computer, so the key of the local server cannot be read.</source>
            <translation>这台电脑上没有可用的密钥环，无法读取本地服务器的密钥。</translation>
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
            <source>Another program uses port {port}, so the local server cannot be turned on.</source>
            <translation>端口 {port} 正被其他程序使用，无法开启本地服务器。</translation>
        </message>
        <message>
            <location filename="../../engine/server/listener.py"></location>
            <source>Choose another port, or end the program that has it.</source>
            <translation>换一个端口，或结束占用它的程序。</translation>
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
            <source>Set a key, or take 127.0.0.1, where only programs on this computer can ask.</source>
            <translation>设置密钥，或使用 127.0.0.1，只让这台电脑上的程序访问。</translation>
        </message>
        <message>
            <location filename="../../engine/service/library_worker.py"></location>
            <source>Paused: {text}</source>
            <translation>已暂停：{text}</translation>
        </message>
        <message>
            <location filename="../../engine/service/library_worker.py"></location>
            <source>{name} is loaded.</source>
            <translation>{name} 已加载。</translation>
        </message>
        <message>
            <location filename="../../engine/service/library_worker.py"></location>
            <source>Choose another model first, then move it.</source>
            <translation>请先选择其他模型，再移动它。</translation>
        </message>
        <message>
            <location filename="../../engine/service/library_worker.py"></location>
            <source>Verifying</source>
            <translation>正在校验</translation>
        </message>
        <message>
            <location filename="../../engine/service/service.py"></location>
            <source>No model is loaded.</source>
            <translation>没有加载模型。</translation>
        </message>
        <message>
            <location filename="../../engine/service/service.py"></location>
            <source>Choose a model first.</source>
            <translation>请先选择模型。</translation>
        </message>
        <message>
            <location filename="../../engine/service/service.py"></location>
            <source>The model is needed for something else now.</source>
            <translation>模型现在要用于其他任务。</translation>
        </message>
        <message>
            <location filename="../../engine/service/service.py"></location>
            <source>Ask again soon.</source>
            <translation>稍后再试。</translation>
        </message>
        <message>
            <location filename="../../engine/service/service.py"></location>
            <source>Choose another model first, then delete it.</source>
            <translation>请先选择其他模型，再删除它。</translation>
        </message>
        <message>
            <location filename="../../engine/service/transfers.py"></location>
            <source>{top} bits cannot be stored.</source>
            <translation>不能以 {top} 位保存。</translation>
        </message>
        <message>
            <location filename="../../engine/service/transfers.py"></location>
            <source>Choose 4, 8 or 16.</source>
            <translation>请选择 4、8 或 16。</translation>
        </message>
        <message>
            <location filename="../../engine/service/transfers.py"></location>
            <source>{repo} is among the downloads already.</source>
            <translation>{repo} 已在下载列表中。</translation>
        </message>
        <message>
            <location filename="../../engine/service/transfers.py"></location>
            <source>Go on with that one, or cancel it.</source>
            <translation>请继续那一个，或取消它。</translation>
        </message>
        <message>
            <location filename="../../engine/service/transfers.py"></location>
            <source>This download is not in the list any more.</source>
            <translation>此下载已不在列表中。</translation>
        </message>
        <message>
            <location filename="../../engine/service/transfers.py"></location>
            <source>Looking at it</source>
            <translation>正在查看</translation>
        </message>
        <message>
            <location filename="../../engine/service/transfers.py"></location>
            <source>Downloading</source>
            <translation>正在下载</translation>
        </message>
        <message>
            <location filename="../../engine/session/bottleneck.py"></location>
            <source>Other programs hold {others} of the processor, which makes it slower.</source>
            <translation>其他程序占用了处理器的 {others}，因此速度较慢。</translation>
        </message>
        <message>
            <location filename="../../engine/session/bottleneck.py"></location>
            <source>Answering.</source>
            <translation>正在回答。</translation>
        </message>
        <message>
            <location filename="../../engine/session/bottleneck.py"></location>
            <source>every token reads {read} from the disk</source>
            <translation>每个词元从磁盘读取 {read}</translation>
        </message>
        <message>
            <location filename="../../engine/session/bottleneck.py"></location>
            <source>Waiting for the disk: {a_token}, which gives {read} a second, and {waiting} of the time goes into that. A larger expert cache would help.</source>
            <translation>正在等待磁盘：{a_token}，磁盘每秒提供 {read}，{waiting} 的时间花在等待上。更大的专家缓存会有帮助。</translation>
        </message>
        <message>
            <location filename="../../engine/session/bottleneck.py"></location>
            <source>Mostly computing: {a_token}, and {waiting} of the time goes into waiting for it.</source>
            <translation>主要在计算：{a_token}，{waiting} 的时间花在等待磁盘上。</translation>
        </message>
        <message>
            <location filename="../../engine/session/bottleneck.py"></location>
            <source>Reading the prompt.</source>
            <translation>正在读取提示词。</translation>
        </message>
        <message>
            <location filename="../../engine/session/bottleneck.py"></location>
            <source>Reading the prompt at {prompt_tokens} tokens a second</source>
            <translation>正在以每秒 {prompt_tokens} 个词元的速度读取提示词</translation>
        </message>
        <message>
            <location filename="../../engine/session/bottleneck.py"></location>
            <source>{said}, waiting for experts from the disk, which gives {read} a second.</source>
            <translation>{said}，正在等待磁盘中的专家，磁盘每秒提供 {read}。</translation>
        </message>
        <message>
            <location filename="../../engine/session/bottleneck.py"></location>
            <source>{said}; computing sets the pace.</source>
            <translation>{said}；速度取决于计算。</translation>
        </message>
        <message>
            <location filename="../../engine/session/bottleneck.py"></location>
            <source>Every expert needed is in memory. Every token reads {weights} of it, at {taken} a second: {value} of what the memory gives, which sets the pace.</source>
            <translation>所需的专家都在内存中。每个词元读取其中 {weights}，每秒 {taken}，相当于内存速度的 {value}；速度取决于内存。</translation>
        </message>
        <message>
            <location filename="../../engine/session/bottleneck.py"></location>
            <source>Every expert needed is in memory; computing sets the pace.</source>
            <translation>所需的专家都在内存中；速度取决于计算。</translation>
        </message>
        <message>
            <location filename="../../engine/session/cache_budget.py"></location>
            <source>How much memory is free cannot be seen now, so the experts that are kept stay as many as they are.</source>
            <translation>目前无法得知有多少可用内存，因此保留的专家数量维持不变。</translation>
        </message>
        <message>
            <location filename="../../engine/session/cache_budget.py"></location>
            <source>Underhill itself takes more memory than was planned for it, so {kept} of experts are kept, not {planned}.</source>
            <translation>Underhill 自身占用的内存超出计划，因此保留 {kept} 的专家，而不是 {planned}。</translation>
        </message>
        <message>
            <location filename="../../engine/session/cache_budget.py"></location>
            <source>This computer is short of memory, so {kept} of experts are kept instead of {planned}; answers are slower until there is more.</source>
            <translation>这台电脑内存不足，因此保留 {kept} 的专家，而不是 {planned}；在内存充足之前，回答会较慢。</translation>
        </message>
        <message>
            <location filename="../../engine/session/cache_budget.py"></location>
            <source>There is memory again: {planned} of experts are kept, as planned.</source>
            <translation>内存又够用了：按计划保留 {planned} 的专家。</translation>
        </message>
        <message>
            <location filename="../../engine/session/card_session.py"></location>
            <source>{name} has proved itself: {rows} rows of this model's experts, computed on it and here, differ by at most {worst}.</source>
            <translation>{name} 已通过检验：此模型的专家在显卡和处理器上各算了 {rows} 行，最多相差 {worst}。</translation>
        </message>
        <message>
            <location filename="../../engine/session/card_session.py"></location>
            <source>{size} of shared weights lie there, too: {there} ms a token instead of {here}.</source>
            <translation>另有 {size} 的共享权重也在显卡上：每个词元 {there} 毫秒，而不是 {here} 毫秒。</translation>
        </message>
        <message>
            <location filename="../../engine/session/card_session.py"></location>
            <source>The processor computes alone. {sentence}</source>
            <translation>仅由处理器计算。{sentence}</translation>
        </message>
        <message>
            <location filename="../../engine/session/loaded_model.py"></location>
            <source>What was measured cannot be kept in {store}.</source>
            <translation>测量结果无法保存到 {store}。</translation>
        </message>
        <message>
            <location filename="../../engine/session/loaded_model.py"></location>
            <source>Check that the folder can be written.</source>
            <translation>请检查该文件夹是否可写。</translation>
        </message>
        <message>
            <location filename="../../engine/session/policy_weights.py"></location>
            <source>The cache policy's weights cannot be kept in {parent}.</source>
            <translation>缓存策略的权重无法保存到 {parent}。</translation>
        </message>
        <message>
            <location filename="../../engine/session/predictor_store.py"></location>
            <source>Keeping what was learnt of this model</source>
            <translation>保存从这个模型学到的内容</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>the gates of coming layers</source>
            <translation>后续各层的门控</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>taught gates</source>
            <translation>校正过的门控</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>the token table</source>
            <translation>词元表</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>pairs of layers</source>
            <translation>相邻层的配对</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>activation paths</source>
            <translation>激活路径</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>the matrices of past answers</source>
            <translation>以往回答的矩阵</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>all predictors together</source>
            <translation>所有预测器合用</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>the gates of coming layers and the token table</source>
            <translation>后续各层的门控和词元表</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>taught gates and the token table</source>
            <translation>校正过的门控和词元表</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>{lacking} Experts are read ahead by {words}.</source>
            <translation>{lacking}专家按 {words} 预取。</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>The routers of this model read something else than its experts are given.</source>
            <translation>这个模型的路由器读取的内容与交给专家的内容不同。</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>The routers of this model are not known, since it runs through the compatibility backend.</source>
            <translation>此模型通过兼容后端运行，因此它的路由未知。</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>The gates of this model have not been taught yet: calibration does that.</source>
            <translation>此模型的门控尚未校正：校准时会进行。</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>How much each predictor counts on this model has not been found yet: calibration does that.</source>
            <translation>各预测器在此模型上的权重尚未确定：校准时会进行。</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>Counting this model's pairs of layers would take {nbytes} of memory.</source>
            <translation>统计此模型的层配对需要 {nbytes} 内存。</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>There are no matrices of past answers, since remembering which experts are used is off.</source>
            <translation>没有以往回答的矩阵，因为“记住使用了哪些专家”已关闭。</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>Read ahead by {words}, of which nothing can be said yet.</source>
            <translation>按 {words} 预取，其效果尚不可知。</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>Read ahead by {words}: {recall} % of the experts named for the next layer were chosen.</source>
            <translation>按 {words} 预取：为下一层预测的专家中，{recall} % 真的被选中。</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>{first_recall} % of those named for the first layer, before it ran.</source>
            <translation>为第一层（运行之前）预测的专家中，{first_recall} % 被选中。</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>{read} % of the bytes read ahead were in vain.</source>
            <translation>预取的字节中有 {read} % 白读了。</translation>
        </message>
        <message>
            <location filename="../../engine/session/prefetch_choice.py"></location>
            <source>It rests now, since it did not pay.</source>
            <translation>由于得不偿失，现已停用。</translation>
        </message>
        <message>
            <location filename="../../engine/session/session.py"></location>
            <source>The cache policy goes by the open chat alone, since remembering which experts are used is off.</source>
            <translation>由于没有记住使用了哪些专家，缓存策略只依据当前打开的对话。</translation>
        </message>
        <message>
            <location filename="../../engine/session/session.py"></location>
            <source>Measuring this computer</source>
            <translation>正在为这台电脑测速</translation>
        </message>
        <message>
            <location filename="../../engine/session/session.py"></location>
            <source>Loading the model</source>
            <translation>正在加载模型</translation>
        </message>
        <message>
            <location filename="../../engine/session/session.py"></location>
            <source>The built-in model was damaged and has been made anew.</source>
            <translation>内置模型已损坏，现已重新生成。</translation>
        </message>
        <message>
            <location filename="../../engine/session/session.py"></location>
            <source>{label} takes effect when the model is loaded.</source>
            <translation>{label} 在加载模型时生效。</translation>
        </message>
        <message>
            <location filename="../../engine/session/session.py"></location>
            <source>Load it again.</source>
            <translation>请重新加载。</translation>
        </message>
        <message>
            <location filename="../../engine/session/session.py"></location>
            <source>The model's tokenizer makes token {ids}, and the model knows {known} tokens.</source>
            <translation>模型的分词器产生词元 {ids}，而模型只认识 {known} 个词元。</translation>
        </message>
        <message>
            <location filename="../../engine/session/session.py"></location>
            <source>Your chat is kept. Import the model again, with the tokenizer that belongs to it.</source>
            <translation>您的对话已保留。请连同所属的分词器重新导入模型。</translation>
        </message>
        <message>
            <location filename="../../engine/session/snapshot.py"></location>
            <source>Idle.</source>
            <translation>空闲。</translation>
        </message>
        <message>
            <location filename="../../engine/session/warm_start.py"></location>
            <source>What is remembered of this model's use cannot be removed from {path}.</source>
            <translation>无法从 {path} 移除对此模型使用情况的记录。</translation>
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
            <source>a number from {low} to {high}</source>
            <translation>{low} 到 {high} 之间的数</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>{label} cannot be {value}.</source>
            <translation>{label} 不能为 {value}。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>It takes {allowed}.</source>
            <translation>可以是 {allowed}。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>{label} does nothing unless {label2} is {name_of}.</source>
            <translation>只有 {label2} 为 {name_of} 时，{label} 才起作用。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>There is no setting called {name}.</source>
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
            <source>{what} is already going on.</source>
            <translation>{what} 正在进行。</translation>
        </message>
        <message>
            <location filename="../../engine/store/lock.py"></location>
            <source>Wait for it to end.</source>
            <translation>请等待它结束。</translation>
        </message>
        <message>
            <location filename="../../engine/store/manifest.py"></location>
            <source>Update Underhill, or import it again.</source>
            <translation>请更新 Underhill，或重新导入。</translation>
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
            <source>This model was made by {made} version of Underhill (store format {version}, not {version2}).</source>
            <translation>此模型由 {made} 版本的 Underhill 制作（存储格式为 {version}，而不是 {version2}）。</translation>
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
            <source>layer entry {i}</source>
            <translation>层条目 {i}</translation>
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
            <source>expert {e} of layer {index}</source>
            <translation>第 {index} 层的专家 {e}</translation>
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
            <source>{file} is open in another program, or protected.</source>
            <translation>{file} 正被另一个程序打开，或受到保护。</translation>
        </message>
        <message>
            <location filename="../../engine/store/output.py"></location>
            <source>Close what uses it, then try again.</source>
            <translation>请关闭正在使用它的程序，然后重试。</translation>
        </message>
        <message>
            <location filename="../../engine/store/output.py"></location>
            <source>{path} cannot be written ({strerror}).</source>
            <translation>无法写入 {path}（{strerror}）。</translation>
        </message>
        <message>
            <location filename="../../engine/store/output.py"></location>
            <source>Free {value} MB</source>
            <translation>请在那里腾出 {value} MB</translation>
        </message>
        <message>
            <location filename="../../engine/store/output.py"></location>
            <source>Free some space</source>
            <translation>请在那里腾出一些空间</translation>
        </message>
        <message>
            <location filename="../../engine/store/output.py"></location>
            <source>There is no space left on the disk of {parent}.</source>
            <translation>{parent} 所在的磁盘没有空间了。</translation>
        </message>
        <message>
            <location filename="../../engine/store/output.py"></location>
            <source>{room} there and try again: it continues where it stopped.</source>
            <translation>{room}，然后再试一次：会从停下的地方继续。</translation>
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
            <source>This disk does not do direct I/O.</source>
            <translation>此磁盘不支持直接 I/O。</translation>
        </message>
        <message>
            <location filename="../../engine/store/reader.py"></location>
            <source>Switch it to auto or off.</source>
            <translation>请把它设为自动或关闭。</translation>
        </message>
        <message>
            <location filename="../../engine/store/reader.py"></location>
            <source>This disk does not do direct I/O ({strerror}), so the system's cache is used.</source>
            <translation>此磁盘不支持直接 I/O（{strerror}），因此使用系统缓存。</translation>
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
            <source>There is no imported model at {path}.</source>
            <translation>{path} 中没有已导入的模型。</translation>
        </message>
        <message>
            <location filename="../../engine/store/reader.py"></location>
            <source>Choose a model from the library, or import one.</source>
            <translation>请从模型库中选择模型，或导入一个。</translation>
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
            <source>Update Underhill, or record it anew.</source>
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
            <source>Record it anew.</source>
            <translation>请重新记录。</translation>
        </message>
        <message>
            <location filename="../../engine/tracing/trace.py"></location>
            <source>{path} contradicts itself.</source>
            <translation>{path} 自相矛盾。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Precision dial</source>
            <translation>精度档位</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Exact runs every expert at full precision. The others run less important experts coarser, or skip them, when they would have to be fetched from disk: HOBBIT 67/30/3 as its paper does, 67 % of expert uses at full precision, 30 % coarse and 3 % skipped; Balanced more, Fast most.</source>
            <translation>精确：每个专家都以完整精度运行。其他档位在需要从磁盘读取时，让不太重要的专家以较低精度运行或跳过：HOBBIT 67/30/3 按其论文，67 % 的专家使用为完整精度，30 % 为低精度，3 % 跳过；均衡降得更多，快速最多。</translation>
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
            <source>Balanced</source>
            <translation>均衡</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Fast</source>
            <translation>快速</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Threshold T1</source>
            <translation>阈值 T1</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Experts with an unimportance score up to T1 run at full precision (under Exact, all do).</source>
            <translation>不重要性分数不超过 T1 的专家以全精度运行（在“精确”档位下，所有专家都如此）。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Threshold T2</source>
            <translation>阈值 T2</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Experts above T1 and up to T2 run coarse; above T2 they are skipped.</source>
            <translation>高于 T1 且不超过 T2 的专家以低精度运行；高于 T2 的会被跳过。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Full precision</source>
            <translation>全精度</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Bits of an expert that runs at full precision.</source>
            <translation>以完整精度运行的专家的位数。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>All that is stored</source>
            <translation>存储的全部位数</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>8 bits</source>
            <translation>8 位</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>4 bits</source>
            <translation>4 位</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>2 bits</source>
            <translation>2 位</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Coarse precision</source>
            <translation>低精度</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Bits of an expert that runs coarse, where the model stores several below full precision: 4 lose less than 2, and take twice as long to read. What the dials cost is measured again.</source>
            <translation>模型存有多个低于完整精度的版本时，以低精度运行的专家的位数：4 位比 2 位损失更少，读取时间是两倍。各档位的代价会重新测量。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>The coarsest stored</source>
            <translation>存有的最低精度</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Expert cache</source>
            <translation>专家缓存</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Share of the model's experts kept in memory, from 0 to 1: 0.5 is half of them. Empty lets Underhill choose.</source>
            <translation>模型的专家保留在内存中的比例，从 0 到 1：0.5 即一半。留空则由 Underhill 选择。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Memory ceiling (GB)</source>
            <translation>内存上限（GB）</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Most memory the whole program takes: itself, the model, the chat and the experts it keeps at hand. Empty takes what is free, less a margin. A lower ceiling is kept at once; what is too low is refused.</source>
            <translation>整个程序最多占用的内存：程序自身、模型、对话，以及放在手边的专家。留空则使用空闲内存减去一定余量。调低上限会立即生效；过低的值会被拒绝。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Cache policy</source>
            <translation>缓存策略</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Which expert leaves memory when room is needed. HOBBIT weighs how recently and how often each was used in this chat, at which precision, and how soon its layer's turn comes. LRU: the one unused for longest; LRU per layer: the same for each layer alone; LFU: the one used least; EdgeMoE: use and turn; Activation: the one that chats like this one use least.</source>
            <translation>需要空间时，哪个专家离开内存。HOBBIT 会权衡每个专家在此对话中多近、多频繁地被使用，使用时的精度，以及多久轮到它所在的层。LRU：最久未使用的；LRU（每层）：每层单独计算；LFU：使用最少的；EdgeMoE：使用次数和轮次；激活：与此类似的对话最少使用的。</translation>
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
            <source>Weights of HOBBIT</source>
            <translation>HOBBIT 的权重</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>What counts for an expert that may have to leave: how recently and how often it was used, how often at full precision, and how soon its layer's turn comes. Fitted takes what was found best for this model's routing, or for others where that was not done.</source>
            <translation>决定专家去留的因素：最近何时使用、使用的频率、以全精度使用的频率，以及还有多久轮到它所在的层。“拟合”使用对此模型的路由最好的权重；没有求出时使用其他模型的。</translation>
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
            <source>Distance</source>
            <translation>距离</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Read ahead</source>
            <translation>预取</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Fetch experts that are likely to be needed before the model asks for them. Auto rests where it does not pay; the answers are the same either way.</source>
            <translation>在模型需要之前，先读取可能要用的专家。“自动”在得不偿失时停用；无论怎样，回答都相同。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Auto</source>
            <translation>自动</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Off</source>
            <translation>关</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Predictor</source>
            <translation>预测器</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Who says which experts will be needed. Auto weighs gates and token table as calibration found best, and takes plain gates until then. Gates: the routers of coming layers, asked in advance; taught: corrected for what lies between. The tables learn while the model answers. Matrices go by past answers; all together weighs the lot.</source>
            <translation>由谁预测将要用到的专家。“自动”按校准得出的最佳比例结合门控与词元表，校准之前只用门控。门控：提前询问后续各层的路由；校正过的门控：考虑了中间各层的影响。各表在模型回答时学习。矩阵依据以往的回答；“全部合用”则结合所有这些。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Gates</source>
            <translation>门控</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Taught gates</source>
            <translation>校正过的门控</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Token table</source>
            <translation>词元表</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Pairs of layers</source>
            <translation>层配对</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Paths</source>
            <translation>激活路径</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Activation matrices</source>
            <translation>激活矩阵</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>All together</source>
            <translation>全部合用</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Layers read ahead</source>
            <translation>预取层数</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>How many layers ahead is looked for a missing expert. Activation matrices look at all of them.</source>
            <translation>提前多少层查找缺少的专家。激活矩阵会查看所有的层。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Experts read ahead</source>
            <translation>预取专家数</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Most experts expected of a layer; empty takes as many as a token chooses.</source>
            <translation>预计每层最多使用的专家数；留空则与每个词元选择的数量相同。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Remember which experts are used</source>
            <translation>记住使用了哪些专家</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Keeps with the model which experts lay in memory, how often chats used which, and which tokens (pieces of words) were seen with which, so that it starts warm the next time: counts, no text, no order. Off removes what is kept.</source>
            <translation>随模型保存哪些专家在内存中、各对话使用专家的频率，以及哪些词元（词的片段）与哪些专家一起出现过，以便下次启动时已经预热：只有计数，没有文本，也没有顺序。关闭则删除已保存的内容。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Processor and graphics card</source>
            <translation>处理器与显卡</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>What computes. CPU-only: the processor. CPU-assisted: the card, and the processor for experts that the card lacks. GPU-centric: the card alone. Auto takes the fastest of those that this computer and this version of Underhill can run.</source>
            <translation>用什么计算。仅处理器：只用处理器。处理器辅助：用显卡，显卡上没有的专家由处理器计算。显卡为主：只用显卡。“自动”在这台电脑和此版本的 Underhill 能运行的模式中选最快的。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Graphics card</source>
            <translation>显卡</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Which card computes, by its number in the list of this computer, from 0 on; empty takes the one with most free memory.</source>
            <translation>由哪块显卡计算，按此电脑列表中的编号，从 0 开始；留空则使用可用显存最多的一块。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Reader threads</source>
            <translation>读取线程</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Reads from disk under way at once.</source>
            <translation>同时进行的磁盘读取数。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Direct I/O</source>
            <translation>直接 I/O</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Read experts past the system's file cache.</source>
            <translation>读取专家时绕过系统的文件缓存。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>On</source>
            <translation>开</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Compute threads</source>
            <translation>计算线程</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Empty takes the physical cores.</source>
            <translation>留空则使用物理核心数。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Context length</source>
            <translation>上下文长度</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Most tokens of chat the model sees. Empty takes what the model allows and experts leave: as many as push none out of memory, or 32,768 where some are read from disk in any case.</source>
            <translation>模型最多能看到的对话词元数。留空则取模型允许且专家留有余地的数量：以不把专家挤出内存为限；如果总有一些要从磁盘读取，则为 32,768。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Other weights</source>
            <translation>其他权重</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>How attention and the other weights are held in memory. Auto takes 8 bits, which lose no more than bf16, and float32 for small models; 4 bits are half as large and less precise.</source>
            <translation>注意力和其他权重在内存中的保存方式。自动采用 8 位，损失不超过 bf16，小模型采用 float32；4 位只占一半空间，但精度较低。</translation>
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
            <source>Activations</source>
            <translation>激活值</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Numbers on their way through the model meet weights of 2, 4 and 8 bits rounded to 8 bits, or exact and slower. Auto rounds, under every dial, Exact included: it loses about what bf16 does.</source>
            <translation>流经模型的数值与 2、4、8 位权重相乘时，可以舍入到 8 位，也可以保持精确但较慢。“自动”在每个档位（包括“精确”）下都舍入：损失与 bf16 大致相当。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>8-bit</source>
            <translation>8 位</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Temperature</source>
            <translation>温度</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>0 always takes the likeliest token; higher is more varied.</source>
            <translation>0 表示总是选择可能性最高的词元；数值越高，回答越多样。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Top-p</source>
            <translation>Top-p</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Keep the likeliest tokens that together reach this probability.</source>
            <translation>只保留累计概率达到此值的最可能词元。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Top-k</source>
            <translation>Top-k</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Keep only this many likeliest tokens; 0 keeps all.</source>
            <translation>只保留这么多个最可能的词元；0 表示全部保留。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Min-p</source>
            <translation>Min-p</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Drop tokens less likely than this share of the likeliest.</source>
            <translation>舍弃概率低于最可能词元这一比例的词元。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Repetition penalty</source>
            <translation>重复惩罚</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Above 1 makes tokens already in the chat less likely.</source>
            <translation>大于 1 时，对话中已出现的词元可能性降低。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Seed</source>
            <translation>种子</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>The same seed gives the same answer; empty takes a new one each time.</source>
            <translation>相同的种子给出相同的回答；留空则每次都用新的。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Longest answer</source>
            <translation>最长回答</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Stop after this many tokens.</source>
            <translation>生成这么多词元后停止。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Model hub</source>
            <translation>模型站</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Address that models are searched at and fetched from, such as that of a mirror. Empty takes HF_ENDPOINT where it is set, and Hugging Face otherwise.</source>
            <translation>搜索和获取模型的地址，例如镜像站的地址。留空则使用 HF_ENDPOINT（如已设置），否则使用 Hugging Face。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Proxy</source>
            <translation>代理</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Such as http://proxy.example:8080. Empty takes HTTPS_PROXY, HTTP_PROXY and NO_PROXY.</source>
            <translation>例如 http://proxy.example:8080。留空则使用 HTTPS_PROXY、HTTP_PROXY 和 NO_PROXY。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Stay offline</source>
            <translation>保持离线</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>No search and no download: nothing of Underhill uses the network.</source>
            <translation>不搜索也不下载：Underhill 完全不使用网络。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Model folders</source>
            <translation>模型文件夹</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Folders that models live in, one a line, on as many disks as you like; new models go into the first. 'default' is the one in Underhill's own data.</source>
            <translation>存放模型的文件夹，每行一个，可以在任意多块磁盘上；新模型放进第一个。'default' 是 Underhill 自己数据目录中的那个。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Pause imports on battery (%)</source>
            <translation>使用电池时暂停导入（%）</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>On battery, an import waits as soon as less than this percentage is left, and goes on when the computer is plugged in. 0 never waits.</source>
            <translation>使用电池时，剩余电量一旦低于此百分比，导入就会等待，接通电源后继续。0 表示从不等待。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Port</source>
            <translation>端口</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Programs ask at this port. Choose another where a program has it already.</source>
            <translation>其他程序通过此端口访问。若已被占用，换一个端口。</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Who can connect</source>
            <translation>谁可以连接</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Programs on this computer only, or those on other computers in your network, too: these have to show the key. What is sent is not encrypted.</source>
            <translation>仅限这台电脑上的程序，或者也包括你的网络中其他电脑上的程序：它们必须出示密钥。传输内容不加密。</translation>
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
            <source>Start with Underhill</source>
            <translation>随 Underhill 启动</translation>
        </message>
        <message>
            <location filename="../../engine/settings.py"></location>
            <source>Turns the server on whenever Underhill starts.</source>
            <translation>每次 Underhill 启动时开启服务器。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>An all-rounder that suits most computers; thinks first where that is switched on.</source>
            <translation>适合大多数电脑的全能模型；打开思考时会先思考再回答。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>A large all-rounder, strong at programs, mathematics and tools.</source>
            <translation>大型全能模型，擅长编程、数学和使用工具。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>A good all-rounder that answers at once, without thinking first.</source>
            <translation>不错的通用模型，直接回答，不先思考。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Made for writing and changing programs.</source>
            <translation>专为编写和修改程序而设。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Made for writing and changing programs; much knowledge for little computing.</source>
            <translation>专为编写和修改程序而做；知识多，计算少。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Small enough for most computers, thinks briefly before it answers.</source>
            <translation>小到适合大多数电脑，回答前会短暂思考。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>The large one: strong at reasoning, and quick for its size.</source>
            <translation>大的那一个：擅长推理，而且就其大小而言很快。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>A compact GLM for chat, programs and tools.</source>
            <translation>小巧的 GLM，用于对话、编程和工具调用。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>A large all-rounder, good at programs and long tasks.</source>
            <translation>大型通用模型，擅长编程和长任务。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>A very large GLM for programs and long tasks.</source>
            <translation>非常大的 GLM，用于编程和长任务。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Among the strongest open models for programs and long tasks; for very large disks.</source>
            <translation>编程和长任务方面最强的开放模型之一；需要很大的磁盘。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Strong at programs and reasoning, with very long chats; made in 4 bits.</source>
            <translation>擅长编程与推理，可进行很长的对话；以 4 位制作。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Among the strongest open models, and among the largest.</source>
            <translation>最强的开放模型之一，也是最大的之一。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Quick, with long chats that cost little memory; good at tools and reasoning.</source>
            <translation>速度快，长对话占用内存少；擅长使用工具和推理。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>An all-rounder of many languages, quick for its size; thinks where that is on.</source>
            <translation>通晓多种语言的全能模型，就其规模而言速度快；开启思考时会先思考。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Very large; among the strongest open models, made in 4 bits from the start.</source>
            <translation>非常大；属于最强的开放模型之一，从一开始就以 4 位制作。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Very large and very strong at reasoning; made in 4 bits from the start.</source>
            <translation>非常大，推理能力很强；从一开始就以 4 位制作。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Large; made for programs and for working with tools.</source>
            <translation>大型模型；用于编程和工具调用。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Very large; made for programs, tools and very long texts.</source>
            <translation>非常大；适合编程、工具和很长的文本。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Small and quick, and everything about how it was made is open.</source>
            <translation>小而快，并且其制作过程全部公开。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Very small: runs anywhere, for simple tasks.</source>
            <translation>非常小：到处都能运行，适合简单任务。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Small, with long chats that cost little memory.</source>
            <translation>小型模型，长对话占用内存很少。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>For documents and tools, with long chats that cost little memory.</source>
            <translation>用于文档和工具调用，长对话占用内存很少。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Good at Chinese and English, quick for its size.</source>
            <translation>擅长中文和英文，就其大小而言很快。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Made for laptops: quick, and thinks before it answers.</source>
            <translation>为笔记本电脑而做：速度快，先思考再回答。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Google's, good at many languages. Underhill uses it for text.</source>
            <translation>来自 Google，擅长多种语言。Underhill 只用它处理文本。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Trained in the United States from start to end; good at tools and long texts.</source>
            <translation>从头到尾在美国训练；擅长使用工具和长文本。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>A large all-rounder, strong at Chinese; thinks fast or slowly.</source>
            <translation>大型全能模型，擅长中文；可快思考或慢思考。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>Very large; strong at Chinese, programs and tools.</source>
            <translation>非常大；擅长中文、编程和使用工具。</translation>
        </message>
        <message>
            <location filename="../../resources/catalogue.json"></location>
            <source>A large all-rounder, strong at Korean and English.</source>
            <translation>大型通用模型，擅长韩文和英文。</translation>
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
